//! An approver without a key of their own: one line of the builder, and decisions that count in the process alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use toolwright::approval::{ApprovalRequest, Approver, Callback, Response};
use toolwright::journal::{MemoryStore, State};
use toolwright::{BuildProblem, Executor, ExecutorBuilder, OnNoApprover, Registry};

use super::odd::Odd;
use super::support::{Office, REFUND, Ran, a_refund, office, path, terms};
use crate::support::kind;

fn approves() -> impl Approver {
    Callback::new(|_| Response::Approve)
}

fn rejects() -> impl Approver {
    Callback::new(|_| Response::Reject { reason: None })
}

/// Without a journal.
fn alone(ran: &Arc<Ran>) -> ExecutorBuilder {
    let registry = Registry::of([REFUND]).unwrap();
    Executor::builder(registry).unrestricted().service_arc(Arc::clone(ran))
}

/// The journal of the office, as a store that outlives the process.
fn durable(office: &Office) -> Odd {
    Odd { inner: office.store.clone(), ..Odd::default() }
}

/// Approves at the terminal, and counts the questions.
#[derive(Clone, Default)]
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn approver(&self, response: Response) -> impl Approver {
        let asked = Arc::clone(&self.0);
        Callback::new(move |_: &ApprovalRequest| {
            asked.fetch_add(1, SeqCst);
            response.clone()
        })
    }

    fn times(&self) -> usize {
        self.0.load(SeqCst)
    }
}

#[tokio::test]
async fn an_approver_is_one_line_of_the_builder() {
    let ran = Arc::default();
    let executor = alone(&ran).ask(approves()).build().unwrap();
    assert_eq!(executor.call(&a_refund()).await.text(), "refunded 100 for A-1");
    assert_eq!(ran.times(), 1);
    let executor = alone(&ran).approver(office().ada, approves()).build().unwrap();
    assert_eq!(kind(&executor.call(&a_refund()).await), "ok");
    let executor = alone(&ran).ask(rejects()).build().unwrap();
    assert_eq!(kind(&executor.call(&a_refund()).await), "rejected");
    assert_eq!(ran.times(), 2);
}

#[tokio::test]
async fn a_denial_holds_in_the_journal_that_the_executor_makes() {
    let (ran, asked) = (Arc::default(), Counted::default());
    let rejects = asked.approver(Response::Reject { reason: None });
    let executor = alone(&ran).ask(rejects).build().unwrap();
    assert_eq!(kind(&executor.call(&a_refund()).await), "rejected");
    assert_eq!(kind(&executor.call(&a_refund()).await), "rejected");
    assert_eq!((asked.times(), ran.times()), (1, 0));
}

#[test]
fn a_key_of_the_process_beside_a_durable_journal_has_to_be_spelt_out() {
    let office = office();
    let beside = || office.bare().journal(office.journal_in(durable(&office)));
    let error = beside().ask(approves()).build().unwrap_err();
    assert_eq!(error.problems, [BuildProblem::ProcessKey]);
    assert!(error.to_string().contains("`Journal::trust_process_key`"), "{error}");
    let journal = office.journal_in(durable(&office)).trust_process_key();
    office.bare().journal(journal).ask(approves()).build().unwrap();
    beside().approver(office.ada.clone(), approves()).build().unwrap();
    office.bare().ask(approves()).build().unwrap();
}

/// A process whose person approves, and that cannot go on after that.
async fn approved_and_not_begun(office: &Office) -> Executor {
    // The call, its question, and what was decided are recorded; the claim is not.
    let store = Odd { fails_from: Some(3), ..durable(office) };
    let builder =
        office.bare().journal(office.journal_in(store).trust_process_key()).ask(approves());
    let executor = builder.build().unwrap();
    executor.submit(&a_refund()).await;
    let record = &office.records().await[0];
    let history = path(&office.history(record.id).await);
    assert_eq!(history, "judging → pending → ready");
    assert!(record.decision.is_some());
    executor
}

fn next_process(office: &Office, asked: &Counted, response: Response) -> Executor {
    let builder = office.bare().journal(office.journal_in(durable(office)).trust_process_key());
    builder.ask(asked.approver(response)).build().unwrap()
}

#[tokio::test]
async fn after_a_restart_an_approved_call_is_asked_about_again() {
    for response in [Response::Approve, Response::Reject { reason: None }] {
        let (office, asked) = (office(), Counted::default());
        drop(approved_and_not_begun(&office).await);
        let executor = next_process(&office, &asked, response.clone());
        executor.worker().unwrap().sweep().await.unwrap();
        assert_eq!(asked.times(), 1);
        let id = office.records().await[0].id;
        let (state, times) = match response {
            Response::Approve => (State::Succeeded, 1),
            _ => (State::Rejected, 0),
        };
        assert_eq!((office.state(id).await, office.ran.times()), (state, times));
    }
}

#[tokio::test]
async fn another_process_beside_asks_its_own_person() {
    let (office, asked) = (office(), Counted::default());
    let first = approved_and_not_begun(&office).await;
    let second = next_process(&office, &asked, Response::Reject { reason: None });
    second.worker().unwrap().sweep().await.unwrap();
    assert_eq!((asked.times(), office.ran.times()), (1, 0));
    let id = office.records().await[0].id;
    let answer = first.worker().unwrap().resume(id).await.answer().unwrap();
    assert_eq!((kind(&answer).as_str(), office.ran.times()), ("rejected", 0));
}

#[tokio::test]
async fn a_grant_given_with_a_key_of_the_process_counts_in_that_process_alone() {
    let (office, asked) = (office(), Counted::default());
    let journal = office.journal_in(durable(&office)).on_no_approver(OnNoApprover::Park);
    let builder = office.bare().journal(journal.trust_process_key());
    let first = builder.build().unwrap();
    drop(first.submit(&a_refund()).await);
    let terms = terms(&office.records().await[0]);
    drop(first);

    let grants = next_process(&office, &asked, Response::ApproveWithGrant(terms));
    assert_eq!(kind(&grants.call(&a_refund()).await), "ok");
    assert_eq!(kind(&grants.call(&a_refund()).await), "ok");
    assert_eq!(asked.times(), 1, "the grant covers the second");
    let other = next_process(&office, &asked, Response::Reject { reason: None });
    assert_eq!(kind(&other.call(&a_refund()).await), "rejected");
    assert_eq!((asked.times(), office.ran.times()), (2, 2));
}

#[tokio::test]
async fn a_bounded_journal_drops_the_calls_that_ended_first_and_none_that_waits() {
    let mut office = office();
    office.store = MemoryStore::bounded(const { std::num::NonZeroUsize::new(2).unwrap() });
    let waits = office.executor().submit(&a_refund()).await.suspended().unwrap().call;
    let executor = office.bare().ask(approves()).build().unwrap();
    for _ in 0..3 {
        assert_eq!(kind(&executor.call(&a_refund()).await), "ok");
    }
    let states: Vec<_> = office.records().await.into_iter().map(|it| it.state).collect();
    assert_eq!(states, [State::Pending, State::Succeeded, State::Succeeded]);
    office.approve(waits).await.unwrap();
    assert_eq!(
        kind(&office.executor().worker().unwrap().wait(waits).await.answer().unwrap()),
        "ok"
    );
    assert_eq!(office.ran.times(), 4);
}
