//! Guards: what they let through, change, send back and stop, and that nothing passes one that fails.

mod escaped;
mod recorded;
mod references;
mod stopped;
mod sub_agents;

use std::sync::Arc;

use futures::StreamExt as _;
use toolwright::provider::ToolCall;
use toolwright_agent::{
    AfterDecision, Agent, AgentBuilder, AnswerChange, BeforeDecision, ForbiddenText, Guard,
    GuardAction, GuardStage, IncomingAnswer, Message, ModelAnswer, RequestChange, RunEnd, RunError,
    RunEvent, ScriptedModel, Verbatim, check,
};

use crate::support::{ADD, DELETE, Log, kinds, outline};

pub fn builder(log: &Log, model: &Arc<ScriptedModel>) -> AgentBuilder {
    Agent::builder(Arc::clone(model)).tools([ADD, DELETE]).service(log.clone()).unrestricted()
}

/// The guard by which a run ended, where, and why.
pub fn stopped(error: &RunError) -> (String, GuardStage, String) {
    match error.result().expect("it has ended").end() {
        RunEnd::GuardStopped { guard, stage, reason, .. } => {
            (guard.clone(), *stage, reason.clone())
        }
        other => panic!("{other}"),
    }
}

/// Makes an answer of the model of another text.
fn louder(answer: &IncomingAnswer, by: &str) -> AfterDecision<AnswerChange> {
    let text = format!("{}{by}", answer.answer.text);
    AfterDecision::change(AnswerChange::new().text(text), "it is too quiet")
}

#[tokio::test]
async fn what_the_user_says_is_taken_as_guards_have_changed_it_in_their_order() {
    let model = Arc::new(ScriptedModel::new().says("Yes."));
    let say = |name: &str, more: &'static str| {
        Guard::before_run(name, move |prompt| async move {
            BeforeDecision::change(format!("{}{more}", prompt.text), "more")
        })
    };
    let agent = builder(&Log::default(), &model);
    let agent = agent.guard(say("first", " one")).guard(say("second", " two")).build().unwrap();
    let result = agent.run("Zero").await.unwrap();
    assert_eq!(outline(result.history()), ["user: Zero one two", "model: Yes. +0"]);
    assert_eq!(outline(&model.requests()[0].history), ["user: Zero one two"]);
}

#[tokio::test]
async fn what_a_guard_sends_in_the_place_of_a_request_leaves_the_history_as_it_is() {
    let log = Log::default();
    let script = ScriptedModel::new().calls([("add", r#"{"a":40,"b":2}"#)]).says("Done.");
    let model = Arc::new(script);
    let hide = Guard::before_model("no-answers", async |request| {
        let hidden = request.map_texts(|text| text.contains("42").then(|| text.replace("42", "…")));
        match hidden {
            Some(change) => BeforeDecision::change(change.instructions("Guess."), "it is 42"),
            None => BeforeDecision::Continue,
        }
    });
    let agent = builder(&log, &model).instructions("Add.").guard(hide).build().unwrap();
    let mut stream = agent.run("What is 40 + 2?").stream();
    let mut reports = Vec::new();
    while let Some(event) = stream.next().await {
        if let RunEvent::Guard(report) = event.unwrap() {
            reports.push(report.to_string());
        }
    }
    assert_eq!(reports, ["the guard `no-answers` before the model changed: it is 42"]);
    let requests = model.requests();
    assert_eq!((&*requests[0].instructions, &*requests[1].instructions), ("Add.", "Guess."));
    let text = |history: &[Message]| match &history[2] {
        Message::ToolResults(answered) => answered[0].1.text().into_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(text(&requests[1].history), "…");
    assert_eq!(text(stream.result().unwrap().history()), "42");
}

#[tokio::test]
async fn the_calls_that_a_guard_has_changed_are_those_that_run() {
    let log = Log::default();
    let model = ScriptedModel::new().calls([("add", r#"{"a":1,"b":2}"#), ("delete", "{}")]);
    let model = Arc::new(model.says("Done."));
    let guard = Guard::after_model("adds-alone", async |answer| {
        let adds = answer.answer.calls.iter().filter(|it| it.name == "add");
        let adds: Vec<_> = adds
            .map(|it| ToolCall { arguments: r#"{"a":7,"b":7}"#.into(), ..it.clone() })
            .collect();
        match answer.answer.calls.is_empty() {
            true => AfterDecision::Continue,
            false => AfterDecision::change(AnswerChange::new().calls(adds), "it may add alone"),
        }
    });
    let agent = builder(&log, &model).guard(guard).build().unwrap();
    let result = agent.run("go").await.unwrap();
    assert_eq!(log.lines(), ["add 7 7"]);
    assert_eq!(kinds(result.history()), [["ok"]]);
}

#[tokio::test]
async fn nothing_of_an_answer_that_is_sent_back_runs_and_the_model_reads_why() {
    let log = Log::default();
    let script = ScriptedModel::new()
        .says_and_calls("I delete.", [("add", r#"{"a":1,"b":2}"#), ("delete", r#"{"path":"a"}"#)])
        .says("Well, no.");
    let model = Arc::new(script);
    let guard = Guard::after_model("deletes-nothing", async |answer| {
        match answer.answer.calls.iter().any(|it| it.name == "delete") {
            true => AfterDecision::ask_again("Delete nothing."),
            false => AfterDecision::Continue,
        }
    });
    let agent = builder(&log, &model).guard(guard).build().unwrap();
    let result = agent.run("go").await.unwrap();
    assert!(log.lines().is_empty());
    let history = &model.requests()[1].history;
    let said = "user: [Your answer was not taken: Delete nothing.]";
    assert_eq!(outline(history), ["user: go", "model: I delete. +2", "answers: 2", said]);
    assert_eq!(kinds(history), [["sent_back", "sent_back"]]);
    assert_eq!((result.text(), result.turns()), ("Well, no.", 2));
}

#[tokio::test]
async fn readers_get_the_text_of_an_answer_once_it_was_let_through_and_never_before() {
    let script = ScriptedModel::new().streaming().says("Acme!").says("Some shop.");
    let model = Arc::new(script);
    let agent = builder(&Log::default(), &model).early_reads();
    let quiet = Guard::after_run("louder", async |run| {
        AfterDecision::change(format!("{}!", run.text()), "it is too quiet")
    });
    let agent = agent.guard(ForbiddenText::new("no-rivals").words(["acme"])).guard(quiet);
    let mut stream = agent.build().unwrap().run("Where?").stream();
    let mut texts = Vec::new();
    while let Some(event) = stream.next().await {
        if let RunEvent::Text(text) = event.unwrap() {
            texts.push(text);
        }
    }
    assert_eq!(texts, ["Some shop.!"]);
    assert_eq!(stream.result().unwrap().text(), "Some shop.!");
}

#[tokio::test]
async fn an_end_may_be_changed_and_sent_back() {
    let model = Arc::new(ScriptedModel::new().says("It is 3.").says("It is 3. Yours, the shop."));
    let signed =
        Guard::after_run("signed", async |run| match run.text().ends_with("Yours, the shop.") {
            true => AfterDecision::change(run.text().to_uppercase(), "letters are large"),
            false => AfterDecision::ask_again("End with: Yours, the shop."),
        });
    let agent = builder(&Log::default(), &model).guard(signed).build().unwrap();
    let mut chat = agent.chat();
    let result = chat.send("What is 1 + 2?").await.unwrap();
    assert_eq!((result.text(), result.turns()), ("IT IS 3. YOURS, THE SHOP.", 2));
    let last = outline(chat.history()).pop().unwrap();
    assert_eq!(last, "model: IT IS 3. YOURS, THE SHOP. +0");
    check(chat.history()).unwrap();
}

#[tokio::test]
async fn what_a_provider_wants_back_goes_without_an_answer_that_is_another() {
    let verbatim = Verbatim::new("anthropic", r#"[{"type":"text","text":"Well."}]"#);
    let answer = ModelAnswer::text("Well.").verbatim(verbatim.clone());
    let model = ScriptedModel::new().answers(answer.clone()).answers(answer.clone()).says("So.");
    let model = Arc::new(model);
    let louder = Guard::after_model("louder", async |answer| match answer.turn {
        1 => louder(&answer, "!"),
        _ => AfterDecision::Continue,
    });
    // It changes the text of the second answer in the request alone.
    let quieter = Guard::before_model("quieter", async |request| {
        let mut history = request.history.to_vec();
        for message in &mut history {
            if let Message::Assistant { text, .. } = message
                && text == "Well."
            {
                "…".clone_into(text);
            }
        }
        BeforeDecision::change(RequestChange::new().history(history), "it is too loud")
    });
    let agent = builder(&Log::default(), &model).guard(louder).guard(quieter).build().unwrap();
    let mut chat = agent.chat();
    for said in ["One", "Two", "Three"] {
        chat.send(said).await.unwrap();
    }
    let sent = model.requests()[2].history.clone();
    for (place, text) in [(1, "Well.!"), (3, "…")] {
        assert!(
            matches!(&sent[place], Message::Assistant { text: it, verbatim: None, .. } if it == text),
            "{:?}",
            sent[place]
        );
    }
    let verbatims = |message: &Message| matches!(message, Message::Assistant { verbatim: Some(it), .. } if *it == verbatim);
    assert_eq!(chat.history().iter().filter(|it| verbatims(it)).count(), 1);
}

#[tokio::test]
async fn guards_of_a_stage_have_names_of_their_own() {
    let guard = |name: &str| Guard::before_run(name, async |_| BeforeDecision::Continue);
    let model = || Arc::new(ScriptedModel::new());
    let after = Guard::after_run("a", async |_| AfterDecision::Continue);
    builder(&Log::default(), &model()).guard(guard("a")).guard(after).build().unwrap();
    for (guards, words) in [
        (["a", "a"], "two guards that look before the run are called `a`"),
        ([" ", "a"], "a guard that looks before the run has no name"),
    ] {
        let agent = guards
            .into_iter()
            .fold(builder(&Log::default(), &model()), |it, name| it.guard(guard(name)));
        let error = agent.build().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(GuardAction::SentBack.to_string(), "sent back");
}
