//! What an import makes of histories, sound ones and others.

use proptest::prelude::*;
use toolwright::Output;

use super::*;
use crate::history::{Verbatim, check};

fn call(id: Option<&str>, name: &str) -> ToolCall {
    ToolCall { id: id.map(str::to_owned), name: name.to_owned(), arguments: "{}".to_owned() }
}

fn answers(to: &[(&str, &str)]) -> Message {
    let done = |text: &str| Answer::from(Output::text(text.to_owned()));
    Message::tool_results(
        to.iter().enumerate().map(|(index, (id, name))| {
            (call(Some(id), name), done(&format!("{id} {name} {index}")))
        }),
    )
}

fn calls(of: &[(&str, &str)]) -> Message {
    Message::assistant("", of.iter().map(|(id, name)| call(Some(id), name)).collect::<Vec<_>>())
}

/// The texts of the answers of each turn, and the words for what was changed.
fn imported(rest: Vec<Message>) -> (Vec<Vec<String>>, Vec<String>) {
    let history = [Message::user("go")].into_iter().chain(rest);
    let Imported { history, repairs } = import(history).unwrap();
    assert_eq!(check(&history), Ok(&[] as &[ToolCall]));
    let turns = history.iter().filter_map(|message| match message {
        Message::ToolResults(answered) => Some(answered),
        _ => None,
    });
    let words = |answer: &Answer| match answer.error() {
        Some(error) => error.kind().to_owned(),
        None => answer.text().into_owned(),
    };
    let turns = turns.map(|it| it.iter().map(|(_, answer)| words(answer)).collect()).collect();
    (turns, repairs.iter().map(ToString::to_string).collect())
}

#[test]
fn a_call_without_an_answer_is_answered_that_it_was_interrupted() {
    let (turns, repairs) = imported(vec![calls(&[("1", "a"), ("2", "b")]), answers(&[("2", "b")])]);
    assert_eq!(turns, [["interrupted", "2 b 0"]]);
    assert_eq!(
        repairs,
        [
            "call 0 of message 1, of `a`, has no answer: it is answered `interrupted`",
            "answer 0 of message 2, of `b`, is moved to its call, call 1 of message 1"
        ]
    );
}

#[test]
fn an_answer_that_comes_late_stands_at_its_call() {
    let late = vec![calls(&[("1", "a")]), Message::user("well?"), answers(&[("1", "a")])];
    let (turns, repairs) = imported(late);
    assert_eq!(turns, [["1 a 0"]]);
    assert_eq!(
        repairs,
        ["answer 0 of message 3, of `a`, is moved to its call, call 0 of message 1"]
    );
}

#[test]
fn answers_to_no_call_and_second_answers_are_left_out() {
    let (turns, repairs) = imported(vec![
        calls(&[("1", "a")]),
        answers(&[("1", "a"), ("1", "a"), ("2", "a"), ("1", "b")]),
    ]);
    assert_eq!(turns, [["1 a 0"]]);
    assert_eq!(
        repairs,
        [
            "answer 1 of message 2, of `a`, is left out: its call has an answer",
            "answer 2 of message 2, of `a`, is left out: no call before it has its id and tool",
            "answer 3 of message 2, of `b`, is left out: no call before it has its id and tool"
        ]
    );
}

#[test]
fn an_id_that_an_earlier_call_has_is_changed_and_its_answers_follow() {
    let verbatim = Verbatim::new("anthropic", "[]");
    let again = Message::Assistant {
        text: String::new(),
        calls: [call(Some("1"), "a"), call(Some("1"), "a")].into(),
        verbatim: Some(verbatim),
    };
    let messages = vec![
        calls(&[("1", "a")]),
        answers(&[("1", "a")]),
        again,
        answers(&[("1", "a"), ("1", "a")]),
    ];
    let history =
        import([Message::user("go")].into_iter().chain(messages.clone())).unwrap().history;
    let ids: Vec<_> =
        history.iter().flat_map(Message::calls).map(|it| it.id.clone().unwrap()).collect();
    assert_eq!(ids, ["1", "1-2", "1-3"]);
    assert!(matches!(&history[3], Message::Assistant { verbatim: None, .. }));
    let (turns, repairs) = imported(messages);
    assert_eq!(turns, [vec!["1 a 0"], vec!["1 a 0", "1 a 1"]]);
    assert_eq!(repairs.len(), 3, "{repairs:?}");
    assert_eq!(
        repairs[0],
        "call 0 of message 3, of `a`, has the id `1` of an earlier call: it is `1-2` now"
    );
    assert!(repairs[2].starts_with("message 3 loses"), "{repairs:?}");
}

#[test]
fn a_message_of_nothing_but_what_its_provider_requires_back_stays() {
    let verbatim = Some(Verbatim::new("anthropic", "[]"));
    let silent = Message::Assistant { text: String::new(), calls: [].into(), verbatim };
    let imported = import([Message::user("go"), silent]).unwrap();
    assert_eq!((imported.history.len(), imported.repairs), (2, Vec::new()));
}

#[test]
fn what_was_said_is_not_made_up() {
    let error = import([Message::assistant("Hello.", [])]).unwrap_err();
    assert!(error.to_string().starts_with("message 0 is the model's"), "{error}");
    let error = import([Message::user("go"), calls(&[("1", "a"), ("2", " ")])]).unwrap_err();
    assert_eq!(error, ImportError::NoTool { message: 1, call: 1 });
    let (turns, repairs) = imported(vec![Message::assistant(" ", [])]);
    assert_eq!((turns.len(), repairs.len()), (0, 1));
}

fn some_call() -> impl Strategy<Value = ToolCall> {
    let id = prop_oneof![Just(None), Just(Some("1")), Just(Some("2")), Just(Some("1-2"))];
    (id, prop_oneof![Just("a"), Just("b")]).prop_map(|(id, name)| call(id, name))
}

fn message() -> impl Strategy<Value = Message> {
    let calls = prop::collection::vec(some_call(), 0..4);
    let answered = prop::collection::vec(some_call(), 0..4);
    prop_oneof![
        Just(Message::user("go")),
        (prop_oneof![Just(""), Just("text")], calls, any::<bool>()).prop_map(
            |(text, calls, has)| {
                let verbatim = has.then(|| Verbatim::new("anthropic", "[]"));
                Message::Assistant { text: text.to_owned(), calls: calls.into(), verbatim }
            }
        ),
        answered.prop_map(|calls| {
            Message::tool_results(
                calls.into_iter().map(|it| (it, Answer::from(Output::text("done")))),
            )
        }),
    ]
}

fn stored(history: &[Message]) -> String {
    serde_json::to_string(history).unwrap()
}

proptest! {
    #[test]
    fn every_import_is_sound_has_no_id_twice_and_is_not_changed_again(
        rest in prop::collection::vec(message(), 0..8)
    ) {
        let history: Vec<Message> = [Message::user("go")].into_iter().chain(rest).collect();
        let first = import(history.clone()).unwrap();
        prop_assert_eq!(check(&first.history), Ok(&[] as &[ToolCall]));
        let ids: Vec<_> = first.history.iter().flat_map(Message::calls).filter_map(|it| it.id.as_ref()).collect();
        prop_assert_eq!(ids.len(), ids.iter().collect::<HashSet<_>>().len());
        if first.repairs.is_empty() {
            prop_assert_eq!(stored(&first.history), stored(&history));
        }
        let again = import(first.history.clone()).unwrap();
        prop_assert_eq!(again.repairs, []);
        prop_assert_eq!(stored(&again.history), stored(&first.history));
    }
}
