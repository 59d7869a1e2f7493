//! A call that a person has to decide about, where no approver is there.

use std::sync::Arc;

use toolwright::journal::{Journal, MemoryStore};
use toolwright::{CallFailure, OnNoApprover};
use toolwright_agent::{Agent, RunEnd, ScriptedModel, Stopped, check};

use super::support::{Log, builder, kinds, outline};

const DELETE: (&str, &str) = ("delete", r#"{"path":"a.md"}"#);
const SUM: (&str, &str) = ("add", r#"{"a":1,"b":2}"#);

#[tokio::test]
async fn the_host_learns_which_call_needs_a_decision_that_nobody_can_make() {
    let log = Log::default();
    let executor = builder(&log)
        .unrestricted()
        .journal(Journal::shared(Arc::new(MemoryStore::new())).on_no_approver(OnNoApprover::Fail))
        .build()
        .unwrap();
    let model = ScriptedModel::new().calls([SUM, DELETE]);
    let mut run = Agent::on(executor, model).build().unwrap().new_run("r").start().unwrap();
    let stopped = run.send("Go.").await.unwrap_err();
    assert!(matches!(stopped, Stopped::Call(CallFailure::NoApprover { .. })), "{stopped}");
    assert_eq!(stopped.needs_decision(), Some(("delete", "it deletes a file")));
    // The run has not ended: its turn is open, and nothing comes between its calls and their answers.
    assert_eq!(run.state().ended(), None);
    assert_eq!(outline(run.history()), ["user: Go.", "model:  +2"]);
    assert_eq!(check(run.history()).unwrap(), run.state().open_calls());
    assert_eq!(run.send("And now?").await, Err(Stopped::OpenTurn { turn: 1 }));
    assert!(!log.lines().contains(&"delete a.md".to_owned()));
    assert_eq!(run.resume().await, Err(stopped), "still nobody can decide");
}

#[tokio::test]
async fn without_a_journal_the_model_is_refused_and_goes_on() {
    let log = Log::default();
    let executor = builder(&log).unrestricted().build().unwrap();
    let model = ScriptedModel::new().calls([DELETE]).says("Then not.");
    let mut run = Agent::on(executor, model).build().unwrap().new_run("r").start().unwrap();
    assert!(matches!(run.send("Go.").await.unwrap(), RunEnd::Text { .. }));
    assert_eq!(kinds(run.history()), [["approval_required"]]);
    assert!(log.lines().is_empty());
}
