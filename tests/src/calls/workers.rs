//! Where there is a worker, and which calls it sees.

use toolwright::journal::{Journal, State};
use toolwright::{Call, CallFailure, CallId, Executor, OnNoApprover, Registry, Run, tool};

use super::support::{a_refund, answered, office, suspended};
use crate::support::kind;

struct Ticket(&'static str);

/// Closes the ticket of the run.
#[tool(name = "kept_close_ticket", approval = "it cannot be opened again")]
async fn close_ticket(ticket: &Ticket) -> String {
    ticket.0.to_owned()
}

#[tokio::test]
async fn there_is_a_worker_only_where_there_is_a_journal() {
    let executor = crate::support::executor([]);
    assert!(executor.worker().is_none());
    assert!(executor.run("r").start().unwrap().worker().is_none());
    let executor = office().executor();
    assert!(executor.worker().is_some());
    assert!(executor.run("r").start().unwrap().worker().is_some());
}

#[tokio::test]
async fn the_worker_of_a_run_carries_out_the_calls_of_that_run_alone() {
    let office = office();
    let executor = office.executor();
    let calls = async |run: &Run| {
        let call = suspended(run.submit(&a_refund()).await).call;
        office.approve(call).await.unwrap();
        call
    };
    let [one, other] = ["one", "other"].map(|id| executor.run(id).start().unwrap());
    let (of_one, of_other) = (calls(&one).await, calls(&other).await);
    assert_eq!(one.worker().unwrap().sweep().await.unwrap().gone_on, 1);
    assert_eq!(office.state(of_one).await, State::Succeeded);
    assert_eq!(office.state(of_other).await, State::Ready);
    assert_eq!(executor.worker().unwrap().sweep().await.unwrap().gone_on, 1);
    assert_eq!(office.state(of_other).await, State::Succeeded);
}

#[tokio::test]
async fn a_host_ends_a_run_without_the_services_of_the_run() {
    let office = office();
    let executor = Executor::builder(Registry::of([CLOSE_TICKET]).unwrap())
        .unrestricted()
        .per_run::<Ticket>()
        .journal(Journal::new(office.store.clone()).on_no_approver(OnNoApprover::Park))
        .build()
        .unwrap();
    let run = executor.run("r").with(Ticket("T-1")).start().unwrap();
    let call = Call::new("kept_close_ticket", "{}");
    let waits = suspended(run.submit(&call).await);
    let worker = executor.worker().unwrap();
    assert_eq!(worker.end_run("another").await.unwrap(), 0);
    assert_eq!(worker.end_run("r").await.unwrap(), 1);
    assert_eq!(kind(&answered(worker.wait(waits.call).await)), "cancelled");
    assert_eq!(kind(&answered(run.submit(&call).await)), "cancelled");
}

#[tokio::test]
async fn a_worker_says_which_call_the_journal_does_not_know() {
    let worker = office().executor().worker().unwrap();
    let unknown = CallId::new();
    for outcome in [worker.resume(unknown).await, worker.wait(unknown).await] {
        assert_eq!(outcome.failure(), Some(&CallFailure::NoSuchCall(unknown)));
    }
    assert_eq!(worker.acknowledge(unknown).await, Err(CallFailure::NoSuchCall(unknown)));
}
