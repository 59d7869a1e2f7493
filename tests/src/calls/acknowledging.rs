//! A run notes that it has taken an answer, whatever becomes of the call after it.

use std::sync::Arc;

use futures::future::join;
use tokio::sync::Notify;
use toolwright::approval::Statement;
use toolwright::journal::{Journal, State};
use toolwright::policy::{Mode, Policy, Protection};
use toolwright::{Call, Registry, tool};

use super::support::{Ran, a_refund, answered, office, path, suspended};

/// Ends when it is told to.
#[tool(name = "acknowledging_slow")]
async fn slow(ran: &Ran, told: &Notify) -> String {
    ran.add("begins");
    told.notified().await;
    "done".to_owned()
}

#[tokio::test]
async fn an_answer_is_acknowledged_while_its_call_runs_and_the_result_is_recorded_once() {
    let (office, told) = (office(), Arc::new(Notify::new()));
    let policy = Policy::builder().mode(Mode::Unrestricted).without(Protection::ALL).plan(true);
    let clock = office.clock.clone();
    let executor = toolwright::Executor::builder(Registry::of([SLOW]).unwrap())
        .policy(policy)
        .service_arc(Arc::clone(&office.ran))
        .service_arc(Arc::clone(&told))
        .journal(
            Journal::new(office.store.clone())
                .trust("ada", office.ada.public())
                .on_no_approver(toolwright::OnNoApprover::Park)
                .clock(move || clock.now()),
        )
        .build()
        .unwrap();
    answered(executor.submit(&Call::new("acknowledging_slow", "{}")).await);
    let planned = office.records().await.remove(0);
    office.say(Statement::accept(&planned, "ada", office.clock.now())).await.unwrap();
    let meanwhile = async {
        while office.ran.times() == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(office.state(planned.id).await, State::Running);
        executor.worker().unwrap().acknowledge(planned.id).await.unwrap();
        told.notify_one();
    };
    join(executor.worker().unwrap().sweep(), meanwhile).await.0.unwrap();
    let record = office.record(planned.id).await;
    assert_eq!((record.state, record.delivered), (State::Succeeded, true));
    assert_eq!(record.result.unwrap().text, "done");
    assert_eq!(office.ran.times(), 1);
    let path = path(&office.history(planned.id).await);
    assert_eq!(path, "judging → planned → judging → ready → running → succeeded");
}

#[tokio::test]
async fn an_answer_that_is_not_there_cannot_be_acknowledged() {
    let office = office();
    let waits = suspended(office.executor().submit(&a_refund()).await);
    let failure = office.executor().worker().unwrap().acknowledge(waits.call).await.unwrap_err();
    let words = format!(
        "call {} of `kept_refund` is pending and has no answer yet; acknowledge it when its outcome is answered",
        waits.call
    );
    assert_eq!(failure.to_string(), words);
    assert!(!office.record(waits.call).await.delivered);
}
