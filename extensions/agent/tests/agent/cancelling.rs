//! A run that somebody cancels: its open calls are answered, and its history is sound.

use std::sync::Arc;
use std::time::Duration;

use toolwright::journal::{Journal, MemoryStore};
use toolwright::{CancellationToken, Executor, OnNoApprover, Registry};
use toolwright_agent::{Agent, RunEnd, ScriptedModel};

use super::support::{ADD, CANCEL, LOOK_UP, Log, builder, kinds, outline};

const SUM: (&str, &str) = ("add", r#"{"a":1,"b":2}"#);

#[tokio::test]
async fn a_run_that_is_cancelled_in_the_middle_of_a_turn_answers_its_open_calls() {
    let (log, token) = (Log::default(), CancellationToken::new());
    let executor = Executor::builder(Registry::of([ADD, CANCEL, LOOK_UP]).unwrap())
        .unrestricted()
        .service(log.clone())
        .service(token.clone())
        .build()
        .unwrap();
    let model = ScriptedModel::new().calls([SUM, ("cancel", "{}"), ("look_up", r#"{"word":"a"}"#)]);
    let agent = Agent::on(executor, model).build().unwrap();
    let mut run = agent.new_run("r").cancelled_by(token).start().unwrap();
    assert_eq!(run.send("Go.").await.unwrap(), RunEnd::Cancelled);
    assert_eq!(kinds(run.history()), [["ok", "cancelled", "cancelled"]]);
    assert_eq!(log.lines(), ["add 1 2", "cancel"], "nothing begins any more");
}

/// Even where the cancelled turn was the last that the run could take.
#[tokio::test]
async fn a_cancelled_run_is_cancelled_whatever_limit_it_has_reached() {
    let (log, token) = (Log::default(), CancellationToken::new());
    let executor = Executor::builder(Registry::of([CANCEL]).unwrap())
        .unrestricted()
        .service(log)
        .service(token.clone())
        .build()
        .unwrap();
    let model = ScriptedModel::new().calls([("cancel", "{}")]);
    let agent = Agent::on(executor, model).max_turns(1).build().unwrap();
    let mut run = agent.new_run("r").cancelled_by(token).start().unwrap();
    assert_eq!(run.send("Go.").await.unwrap(), RunEnd::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cancelled_while_the_model_answers_drops_the_request() {
    let (log, token) = (Log::default(), CancellationToken::new());
    let executor = builder(&log).unrestricted().build().unwrap();
    let model = ScriptedModel::new().calls([SUM]).hangs();
    let agent = Agent::on(executor, model).build().unwrap();
    let mut run = agent.new_run("r").cancelled_by(token.clone()).start().unwrap();
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    };
    let (ended, ()) = tokio::join!(run.send("Go."), cancel);
    assert_eq!(ended.unwrap(), RunEnd::Cancelled);
    assert_eq!(outline(run.history()), ["user: Go.", "model:  +1", "answers: 1"]);
}

#[tokio::test]
async fn a_run_that_was_cancelled_before_asks_nothing() {
    let (log, token) = (Log::default(), CancellationToken::new());
    token.cancel();
    let executor = builder(&log).unrestricted().build().unwrap();
    let agent = Agent::on(executor, ScriptedModel::new()).build().unwrap();
    let mut run = agent.new_run("r").cancelled_by(token).start().unwrap();
    assert_eq!(run.send("Go.").await.unwrap(), RunEnd::Cancelled);
}

/// A call that waits for a person waits no longer when its run is cancelled.
#[tokio::test(start_paused = true)]
async fn a_run_that_waits_for_a_person_can_be_cancelled() {
    let (log, token) = (Log::default(), CancellationToken::new());
    let executor = builder(&log)
        .unrestricted()
        .journal(Journal::shared(Arc::new(MemoryStore::new())).on_no_approver(OnNoApprover::Park))
        .build()
        .unwrap();
    let model = ScriptedModel::new().calls([("delete", r#"{"path":"a"}"#), SUM]);
    let agent = Agent::on(executor, model).build().unwrap();
    let mut run = agent.new_run("r").cancelled_by(token.clone()).start().unwrap();
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    };
    let (ended, ()) = tokio::join!(run.send("Go."), cancel);
    assert_eq!(ended.unwrap(), RunEnd::Cancelled);
    assert_eq!(kinds(run.history()), [["cancelled", "ok"]]);
    assert_eq!(log.lines(), ["add 1 2"]);
}
