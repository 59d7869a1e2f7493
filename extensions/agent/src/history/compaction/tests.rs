//! What a model gets of long histories: sound ones, of which nothing is lost that somebody depends on.

use std::sync::Arc;

use proptest::prelude::*;
use toolwright::provider::ToolCall;
use toolwright::{Answer, Content, Output, ToolError, error_kind};

use super::size::tokens;
use super::*;
use crate::history::check;

const ROOM: Room = Room { tokens: 4_000 };

#[test]
fn what_a_server_has_compacted_is_left_out_and_the_rest_is_compacted_by_itself() {
    let long = |text: &str| Message::assistant(text.repeat(3_000), []);
    let mut history = vec![Message::user("the task"), long("a"), long("b"), long("c")];
    history.extend([Message::user("more"), long("d"), long("e"), long("f"), Message::user("last")]);
    let old = Summary { at: 2, text: "old".to_owned() };
    for first in 0..history.len() {
        let whole = compact_from(&history, first, ROOM, &|_| false, std::slice::from_ref(&old));
        let fixed = usize::from(first > 0);
        let rest = compact_beside(&history[first..], ROOM, &|_| false, &[], fixed);
        // The message in which the server has compacted the others goes to it, however much there is.
        let begin = format!("{:?}", whole.messages.first());
        assert_eq!(begin, format!("{:?}", history.get(first)), "from {first}");
        if first > 1 {
            let (whole, rest) = (format!("{:?}", whole.messages), format!("{:?}", rest.messages));
            assert_eq!(whole, rest, "from {first}");
        }
        let is_left_out = |index: usize| {
            whole.left_out.messages.iter().any(|(start, end)| (*start..*end).contains(&index))
        };
        assert!((0..first).all(is_left_out), "from {first}: {:?}", whole.left_out);
        let later = rest.left_out.messages.iter().map(|(start, end)| end - start).sum::<usize>();
        let all = whole.left_out.messages.iter().map(|(start, end)| end - start).sum::<usize>();
        assert_eq!(all, first + later, "from {first}: {:?}", whole.left_out);
        assert_eq!(whole.task.map(|it| it.at), rest.task.map(|it| it.at + first));
    }
}

/// One step of a history.
#[derive(Debug, Clone)]
enum Step {
    Said(usize),
    Answered(usize),
    /// The tool, its input, the bytes of its answer or the kind of its error.
    Called(Vec<(u8, u8, Result<usize, &'static str>)>),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size = prop_oneof![4 => 0..200_usize, 2 => 1_000..4_000_usize, 1 => 10_000..30_000_usize];
    let kind = prop_oneof![
        Just("not_found"),
        Just(error_kind::INDETERMINATE),
        Just(error_kind::APPROVAL_REQUIRED),
        Just(error_kind::REJECTED),
    ];
    let answer = prop_oneof![6 => size.clone().prop_map(Ok), 1 => kind.prop_map(Err)];
    let call = (0..4_u8, 0..3_u8, answer);
    let step = prop_oneof![
        1 => size.clone().prop_map(|it| Step::Said(it % 3_000)),
        1 => size.prop_map(|it| Step::Answered(it % 3_000)),
        5 => prop::collection::vec(call, 1..4).prop_map(Step::Called),
    ];
    prop::collection::vec(step, 0..40)
}

fn history(steps: &[Step]) -> Vec<Message> {
    let mut history = vec![Message::user("the task")];
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Said(size) => {
                history.push(Message::user(format!("{number} {}", "u".repeat(*size))))
            }
            Step::Answered(size) => {
                history.push(Message::assistant(format!("{number} {}", "m".repeat(*size)), []));
            }
            Step::Called(calls) => {
                let call = |(index, (tool, input, _)): (usize, &(u8, u8, _))| ToolCall {
                    id: Some(format!("call_{number}_{index}")),
                    name: format!("tool_{tool}"),
                    arguments: format!(r#"{{"input":{input}}}"#),
                };
                let made: Vec<ToolCall> = calls.iter().enumerate().map(call).collect();
                let answer = |(_, _, answer): &(u8, u8, Result<usize, &'static str>)| match answer {
                    Ok(size) => {
                        Answer::from(Output::text(format!("{number} {}ö", "a".repeat(*size))))
                    }
                    Err(kind) => ToolError::new(*kind, format!("{number} no")).into(),
                };
                let answered: Vec<_> = made.iter().cloned().zip(calls.iter().map(answer)).collect();
                history.push(Message::assistant("I call.", made));
                history.push(Message::tool_results(answered));
            }
        }
    }
    history
}

/// Tools of an even number change nothing.
fn is_read(tool: &str) -> bool {
    tool.ends_with(['0', '2'])
}

fn stored(message: &Message) -> String {
    serde_json::to_string(message).unwrap()
}

fn texts<'a>(messages: &'a [Message], of: impl Fn(&'a Message) -> Option<String>) -> Vec<String> {
    messages.iter().filter_map(of).collect()
}

fn said(message: &Message) -> Option<String> {
    match message {
        Message::User { text, .. } if !text.starts_with('[') => Some(text.clone()),
        _ => None,
    }
}

/// Answers on which somebody depends.
fn obligations(messages: &[Message]) -> Vec<String> {
    let answers = messages.iter().filter_map(|message| match message {
        Message::ToolResults(answered) => Some(answered),
        _ => None,
    });
    let all = answers.flat_map(|it| it.iter());
    let is_owed = |answer: &Answer| answer.error().is_some_and(|it| it.kind() != "not_found");
    all.filter(|(_, it)| is_owed(it)).map(|(call, it)| format!("{call:?} {}", it.text())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn nothing_is_lost_that_somebody_depends_on_and_every_call_has_its_answer(steps in steps(), room in 500..20_000_u64) {
        let history = history(&steps);
        let room = Room { tokens: room };
        let CompactHistory { messages, report, .. } = compact(&history, room, &is_read, &[]);
        prop_assert_eq!(check(&messages), Ok(&[] as &[ToolCall]));
        prop_assert_eq!(texts(&messages, said), texts(&history, said));
        prop_assert_eq!(obligations(&messages), obligations(&history));
        let last = history.len().min(4);
        let stored = |it: &[Message]| it[it.len() - last..].iter().map(stored).collect::<Vec<_>>();
        prop_assert_eq!(stored(&messages), stored(&history));
        prop_assert!(report.after <= report.before);
        // What is counted is what is sent, but for the words of notes.
        let sent: u64 = messages.iter().map(tokens).sum();
        let notes = 60 * (messages.len() as u64 + report.repeated as u64 + report.shortened as u64);
        prop_assert!(sent <= report.after + notes, "{} {:?}", sent, report);
    }

    #[test]
    fn a_summary_takes_the_place_of_nothing_that_somebody_depends_on(steps in steps(), room in 500..20_000_u64, size in 1..600_usize) {
        let room = Room { tokens: room };
        let whole = history(&steps);
        let mut summaries: Vec<Summary> = Vec::new();
        // As a run does: a summary is made where turns are left out, at each point where it is asked for.
        for end in 1..=whole.len() {
            let history = &whole[..end];
            if matches!(history.last(), Some(Message::Assistant { .. })) {
                continue;
            }
            let before = compact(history, room, &is_read, &summaries);
            let Some(task) = before.task else { continue };
            prop_assert_eq!(task.at, end);
            let Ok(summary) = task.read(&"s".repeat(size)) else { continue };
            summaries.push(summary);
            let after = compact(history, room, &is_read, &summaries);
            prop_assert!(after.task.is_none(), "it is asked for once");
            prop_assert_eq!(check(&after.messages), Ok(&[] as &[ToolCall]));
            prop_assert_eq!(texts(&after.messages, said), texts(history, said));
            prop_assert_eq!(obligations(&after.messages), obligations(history));
            prop_assert_eq!(after.left_out, before.left_out);
            let noted = |it: &&Message| matches!(it, Message::User { text, .. } if text.contains("a summary of earlier turns"));
            prop_assert_eq!(after.messages.iter().filter(noted).count(), 1);
        }
    }

    #[test]
    fn between_two_points_each_request_begins_with_the_one_before(steps in steps()) {
        let history = history(&steps);
        let mut before: Option<(usize, Vec<String>)> = None;
        for end in 1..=history.len() {
            if matches!(history[end - 1], Message::Assistant { .. }) {
                continue;
            }
            let sent = compact(&history[..end], ROOM, &is_read, &[]);
            let texts: Vec<String> = sent.messages.iter().map(stored).collect();
            if let Some((times, before)) = &before
                && *times == sent.report.times
            {
                prop_assert!(texts.starts_with(before));
            }
            before = Some((sent.report.times, texts));
        }
    }
}

fn called(name: &str, input: &str, answer: Answer) -> [Message; 2] {
    let call = ToolCall { id: Some("c".into()), name: name.into(), arguments: input.into() };
    [Message::assistant("", [call.clone()]), Message::tool_results([(call, answer)])]
}

fn text(size: usize) -> Answer {
    Output::text("x".repeat(size)).into()
}

fn answers(messages: &[Message]) -> Vec<String> {
    let results = messages.iter().filter_map(|message| match message {
        Message::ToolResults(answered) => Some(answered[0].1.text().into_owned()),
        _ => None,
    });
    results.collect()
}

#[test]
fn a_history_below_its_share_is_the_history() {
    let history: Vec<Message> =
        [Message::user("go")].into_iter().chain(called("tool_0", "{}", text(8_000))).collect();
    let sent = compact(&history, ROOM, &is_read, &[]);
    assert!(matches!(sent.messages, Cow::Borrowed(_)));
    assert_eq!(sent.report.times, 0);
}

#[test]
fn what_can_be_had_again_goes_first() {
    let mut history = vec![Message::user("go")];
    history.extend(called("tool_0", "{}", text(4_000)));
    history.extend(called("tool_1", "{}", text(4_000)));
    history.extend(called("tool_0", "{}", text(4_000)));
    history.extend(called("tool_1", "{}", text(100)));
    history.extend(called("tool_1", "{}", text(3_000)));
    let sent = compact(&history, Room { tokens: 6_600 }, &is_read, &[]);
    assert_eq!((sent.report.repeated, sent.report.shortened, sent.report.dropped), (1, 1, 0));
    let sent = answers(&sent.messages);
    assert_eq!(
        sent[0],
        "[left out: you made this call again later; if its newer answer is not below, make it again]"
    );
    assert!(sent[1].contains("\n[2000 bytes are left out here, ") && sent[1].len() < 2_300);
    assert_eq!(sent[2].len(), 4_000);
    // A call that changes something is never answered by another.
    let others: Vec<Message> = history[..1]
        .iter()
        .cloned()
        .chain((0..3).flat_map(|_| called("tool_1", "{}", text(4_000))))
        .collect();
    assert_eq!(compact(&others, ROOM, &is_read, &[]).report.repeated, 0);
}

#[test]
fn whole_turns_go_last_with_a_note_of_what_was_called() {
    let mut history = vec![Message::user("go")];
    for number in 0..40 {
        history.extend(called("tool_1", &format!(r#"{{"n":{number}}}"#), text(400)));
    }
    history.extend(called(
        "tool_1",
        "{}",
        ToolError::new(error_kind::INDETERMINATE, "who knows").into(),
    ));
    let sent = compact(&history, ROOM, &is_read, &[]);
    assert!(sent.report.dropped > 10 && !sent.report.is_too_long, "{:?}", sent.report);
    let Message::User { text, .. } = &sent.messages[1] else { panic!("a note") };
    let steps = sent.report.dropped / 2;
    assert!(
        text.starts_with(&format!("[{steps} earlier answers of yours are left out here")),
        "{text}"
    );
    assert!(text.contains(&format!("`tool_1` {steps} times")), "{text}");
}

#[test]
fn one_message_that_is_larger_than_the_window_is_reported_and_sent() {
    let history = [Message::user("u".repeat(100_000))];
    let sent = compact(&history, ROOM, &is_read, &[]);
    assert!(sent.report.is_too_long && sent.report.times == 0);
    assert!(matches!(sent.messages, Cow::Borrowed(_)));
    assert_eq!(Room::new(2_000, 5_000, None).tokens, 0);
}

#[test]
fn an_old_picture_becomes_words_and_what_marks_an_answer_as_foreign_stays() {
    let picture = Content::Image { media_type: "image/png".into(), data: "A".repeat(9_000).into() };
    let answer = Output::text("seen").with(picture).metadata("untrusted", true);
    let mut history = vec![Message::user("go")];
    history.extend(called("tool_1", "{}", answer.into()));
    for size in [30_000, 100, 100, 10_000] {
        history.extend(called("tool_1", "{}", text(size)));
    }
    let sent = compact(&history, Room { tokens: 16_000 }, &is_read, &[]);
    assert_eq!((sent.report.shortened, sent.report.dropped), (2, 0));
    let Message::ToolResults(answered) = &sent.messages[2] else { panic!("the answers") };
    assert_eq!(answered[0].1.metadata().unwrap()["untrusted"], true);
    let content = answered[0].1.content();
    assert!(matches!(&content[..], [Content::Text(_)]), "{content:?}");
    let _: Arc<[Message]> = sent.messages.into_owned().into();
}

#[test]
fn the_last_two_turns_stay_whatever_the_user_says_between_them() {
    let mut history = vec![Message::user("go")];
    history.extend(called("tool_1", "{}", text(7_000)));
    history.extend((0..5).map(|number| Message::user(format!("and {number}"))));
    history.extend(called("tool_1", "{}", text(3_000)));
    let sent = compact(&history, ROOM, &is_read, &[]);
    assert_eq!(answers(&sent.messages).iter().map(String::len).collect::<Vec<_>>(), [7_000, 3_000]);
    // The first of three turns may go.
    history.extend(called("tool_1", "{}", text(1_000)));
    let sent = compact(&history, ROOM, &is_read, &[]);
    assert!(answers(&sent.messages).iter().all(|it| it.len() < 7_000));
}
