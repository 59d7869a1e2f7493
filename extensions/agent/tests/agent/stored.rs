//! A run that is stored and taken up again.

use std::sync::Arc;

use toolwright::journal::{Journal, MemoryStore};
use toolwright::{Executor, OnNoApprover};
use toolwright_agent::{
    Action, Agent, Limits, Message, ModelAnswer, RunEnd, ScriptedModel, State, StepInput, step,
};

use super::support::{Log, builder, call, kinds, outline};

const SUM: (&str, &str) = ("add", r#"{"a":1,"b":2}"#);

fn journaled(log: &Log, store: &Arc<MemoryStore>) -> Executor {
    builder(log)
        .unrestricted()
        .journal(Journal::shared(store.clone()).record_reads().on_no_approver(OnNoApprover::Deny))
        .build()
        .unwrap()
}

/// Stored as text, and read again, as in another process.
fn stored(state: &State, history: &[Message]) -> (State, Vec<Message>) {
    let text = serde_json::to_string(&(state, history)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A run whose task is dropped in the middle of a turn.
#[tokio::test(start_paused = true)]
async fn a_turn_that_was_left_open_is_made_again_and_runs_nothing_twice() {
    let (log, store) = (Log::default(), Arc::new(MemoryStore::new()));
    let model = ScriptedModel::new().calls([SUM, ("wait", "{}"), SUM]);
    let agent = Agent::on(journaled(&log, &store), model).build().unwrap();
    let mut run = agent.new_run("r").start().unwrap();
    let late = tokio::time::timeout(std::time::Duration::from_secs(1), run.send("Go.")).await;
    assert!(late.is_err(), "it waits");
    let (state, history) = stored(run.state(), run.history());
    assert_eq!(state, *run.state());
    drop(run);

    let model = ScriptedModel::new().says("Done.");
    let agent = Agent::on(journaled(&log, &store), model).build().unwrap();
    let mut run = agent.new_run("r").restored(state, history).start().unwrap();
    assert!(matches!(run.resume().await.unwrap(), RunEnd::Text { .. }));
    assert_eq!(run.history().len(), 4);
    assert_eq!(kinds(run.history())[0].len(), 3);
    let sums = log.lines().iter().filter(|it| *it == "add 1 2").count();
    assert_eq!(sums, 2, "the first sum is answered from the journal, the last runs now");
}

#[tokio::test]
async fn a_run_whose_model_was_not_asked_yet_goes_on_where_it_stood() {
    let log = Log::default();
    let (state, actions) = step(&State::new(Limits::default()), StepInput::said("1 + 2?"));
    let history: Vec<Message> = actions
        .into_iter()
        .filter_map(|action| match action {
            Action::Append(message) => Some(message),
            _ => None,
        })
        .collect();
    let (state, history) = stored(&state, &history);
    let model = ScriptedModel::new().says("3");
    let executor = builder(&log).unrestricted().build().unwrap();
    let agent = Agent::on(executor, model).build().unwrap();
    let mut run = agent.new_run("r").restored(state, history).start().unwrap();
    run.resume().await.unwrap();
    assert_eq!(outline(run.history()), ["user: 1 + 2?", "model: 3 +0"]);
    // Of a run that has ended it gives the end, and asks nobody.
    assert!(matches!(run.resume().await.unwrap(), RunEnd::Text { .. }));
}

#[tokio::test]
async fn a_history_of_another_run_is_refused() {
    let executor = builder(&Log::default()).unrestricted().build().unwrap();
    let agent = Agent::on(executor, ScriptedModel::new()).build().unwrap();
    let (asking, _) = step(&State::new(Limits::default()), StepInput::said("Go."));
    let answer = ModelAnswer::new("", vec![call("c1", "add", "{}")]);
    let (calling, _) = step(&asking, StepInput::Answered(answer));
    let open = || Message::assistant("", [call("c1", "add", "{}")]);
    for (state, history, words) in [
        (
            asking.clone(),
            vec![Message::user("Go."), open()],
            "1 calls without an answer, the state has 0",
        ),
        (calling.clone(), vec![Message::user("Go.")], "0 calls without an answer, the state has 1"),
        (asking, vec![open(), Message::user("Go.")], "not sound: message 0 calls 1 tools"),
    ] {
        let problem = agent.new_run("r").restored(state, history).start().unwrap_err().to_string();
        assert!(problem.contains(words), "{problem}");
    }
    let (_, history) = stored(&calling, &[Message::user("Go."), open()]);
    assert!(agent.new_run("r").restored(calling, history).start().is_ok());
}

#[test]
fn a_state_of_another_version_is_refused_by_its_version() {
    let state = State::new(Limits::default());
    let mut value = serde_json::to_value(&state).unwrap();
    assert_eq!(value["version"], 1);
    value["version"] = 2.into();
    let newer = serde_json::from_value::<State>(value.clone()).unwrap_err().to_string();
    assert!(newer.contains("version 2") && newer.contains("version 1"), "{newer}");
    value.as_object_mut().unwrap().remove("version");
    assert!(serde_json::from_value::<State>(value).unwrap_err().to_string().contains("no version"));
}

/// Whatever the phase, stored and read it is equal; and no debug form shows arguments.
#[test]
fn every_state_comes_back_as_it_was() {
    let (asking, _) = step(&State::new(Limits::default()), StepInput::said("Go."));
    let calls = vec![call("c1", "add", r#"{"secret":"hunter2"}"#)];
    let answer = ModelAnswer::new("hunter2", calls);
    assert!(!format!("{answer:?}").contains("hunter2"));
    let (calling, _) = step(&asking, StepInput::Answered(answer));
    let (stopping, _) = step(&calling, StepInput::Cancelled);
    let called = StepInput::Called { answers: Vec::new(), terminal: None };
    let (failing, _) = step(&calling, called);
    let (ended, _) = step(&asking, StepInput::Cancelled);
    for state in [State::new(Limits::default()), asking, calling, stopping, failing, ended] {
        let text = serde_json::to_string(&state).unwrap();
        assert!(serde_json::from_str::<State>(&text).unwrap() == state, "{text}");
        assert!(!format!("{state:?}").contains("hunter2"));
    }
}
