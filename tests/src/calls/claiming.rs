//! The right to run a call: held by one at a time, for the time of a lease, and looked at again when it is taken.

use std::sync::Arc;
use std::time::Duration;

use toolwright::journal::{CallWrite, Journal, Note, State, Store, Transaction, Transition};
use toolwright::retry::RetryPolicy;
use toolwright::{Call, CallFailure, CallId, Executor, OnNoApprover, Outcome, Registry, tool};

use super::odd::Odd;
use super::support::{Office, Ran, SHIP, a_refund, answered, office, path, suspended};
use crate::support::kind;

/// The tool `kept_refund` of a later version.
mod later {
    use super::Ran;
    use toolwright::tool;

    /// Pays somebody back, and tells them.
    #[tool(name = "kept_refund", approval = "it sends money")]
    pub async fn refund(
        ran: &Ran,
        /// Which order.
        order: String,
        /// How much, in cents.
        #[arg(default = 100)]
        cents: u64,
    ) {
        ran.add(format!("later refund {order} {cents}"));
    }
}

/// The record and its history are read one after the other.
#[tokio::test]
async fn a_call_that_somebody_else_claims_while_it_is_looked_at_is_not_taken_for_forged() {
    let office = office();
    let waits = suspended(office.executor().submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    let store = Odd { inner: office.store.clone(), late_histories: true, ..Odd::default() };
    let late =
        office.builder().journal(office.parking_in(store)).build().unwrap().worker().unwrap();
    let other = office.executor().worker().unwrap();
    let (late, other) =
        futures::future::join(late.resume(waits.call), other.resume(waits.call)).await;
    assert_eq!(answered(other).text(), "refunded 100 for A-1");
    assert_eq!(answered(late).text(), "refunded 100 for A-1");
    assert_eq!(office.ran.times(), 1);
}

/// Invariant 8: the tool's definition.
#[tokio::test]
async fn an_approved_call_whose_tool_has_changed_is_asked_again() {
    let office = office();
    let waits = suspended(office.executor().submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    let clock = office.clock.clone();
    let updated = Executor::builder(Registry::of([later::REFUND]).unwrap())
        .unrestricted()
        .service_arc(office.ran.clone())
        .journal(
            Journal::new(office.store.clone())
                .trust("ada", office.ada.public())
                .on_no_approver(OnNoApprover::Park)
                .clock(move || clock.now()),
        )
        .build()
        .unwrap();
    assert_eq!(suspended(updated.worker().unwrap().resume(waits.call).await).state, State::Pending);
    assert_eq!(office.ran.times(), 0);
    office.approve(waits.call).await.unwrap();
    answered(updated.worker().unwrap().resume(waits.call).await);
    assert_eq!(office.ran.all(), ["later refund A-1 100"]);
}

/// A tool that is not here is left to whoever has it.
#[tokio::test]
async fn a_call_whose_tool_is_not_here_is_left_as_it_is() {
    let office = office();
    let waits = suspended(office.executor().submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    let other = Executor::builder(Registry::empty())
        .unrestricted()
        .journal(Journal::new(office.store.clone()).on_no_approver(OnNoApprover::Deny))
        .build()
        .unwrap();
    let outcome = other.worker().unwrap().resume(waits.call).await;
    assert!(matches!(outcome, Outcome::Failed(CallFailure::NotHere { .. })), "{outcome:?}");
    assert!(other.worker().unwrap().sweep().await.unwrap().is_nothing());
    assert_eq!(office.state(waits.call).await, State::Ready);
}

/// Invariant 5: a decision that nobody acted on is found.
#[tokio::test]
async fn a_decided_call_is_run_by_the_next_who_looks() {
    let office = office();
    let waits = suspended(office.executor().submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    let swept = office.executor().worker().unwrap().sweep().await.unwrap();
    assert_eq!(swept.gone_on, 1);
    assert_eq!(office.state(waits.call).await, State::Succeeded);
    assert!(office.executor().worker().unwrap().sweep().await.unwrap().is_nothing());
    assert_eq!(office.ran.times(), 1);
}

/// Somebody claims a call and is never heard of again.
async fn claimed_and_gone(office: &Office, call: Call<'static>) -> CallId {
    let (executor, ran) = (office.executor(), Arc::clone(&office.ran));
    let killed = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        // What a dropped call would still do is left to a runtime that is never polled again.
        runtime.block_on(async {
            tokio::select! {
                biased;
                _ = executor.submit(&call) => unreachable!(),
                () = async { while ran.times() == 0 { tokio::task::yield_now().await } } => {}
            }
        });
    });
    killed.join().unwrap();
    let id = office.records().await[0].id;
    assert_eq!(office.state(id).await, State::Running);
    id
}

/// The crash table: `Running` durable, its owner gone.
#[tokio::test]
async fn a_call_whose_owner_is_gone_is_indeterminate_when_it_must_not_repeat() {
    let office = office();
    let id = claimed_and_gone(&office, Call::new("kept_hang", "{}")).await;
    assert!(
        office.executor().worker().unwrap().sweep().await.unwrap().is_nothing(),
        "its lease still counts"
    );
    office.clock.pass(Duration::from_secs(31));
    assert_eq!(office.executor().worker().unwrap().sweep().await.unwrap().lost, 1);
    assert_eq!(office.state(id).await, State::Indeterminate);
    assert_eq!(office.ran.times(), 1);
}

#[tokio::test]
async fn a_call_whose_owner_is_gone_is_begun_again_with_the_same_key_and_not_for_ever() {
    let office = office();
    let id = claimed_and_gone(&office, Call::new("kept_hang_again", "{}")).await;
    let key = office.record(id).await.idempotency_key;
    office.clock.pass(Duration::from_secs(31));
    let executor = office.builder().timeout(Some(Duration::from_millis(20)));
    let executor = executor.retry(RetryPolicy::TOOL.attempts(2)).build().unwrap();
    executor.worker().unwrap().sweep().await.unwrap();
    let record = office.record(id).await;
    assert_eq!((record.attempt, record.idempotency_key), (2, key));
    assert_eq!(record.state, State::Dead, "it ran out of time in its second attempt");
    assert_eq!(office.ran.times(), 2);
}

/// Invariant 7.
#[tokio::test(start_paused = true)]
async fn a_late_owner_is_stopped_and_its_result_refused() {
    let office = office();
    let executor = office.builder().timeout(None).build().unwrap();
    let call = Call::new("kept_hang", "{}");
    let late = executor.submit(&call);
    let meanwhile = async {
        while office.ran.times() == 0 {
            tokio::task::yield_now().await;
        }
        // Somebody else finds it lost.
        office.clock.pass(Duration::from_secs(31));
        let id = office.records().await[0].id;
        let mut record = office.record(id).await;
        let expects = Some(record.version);
        let note = Note {
            who: "executor:other".to_owned(),
            at: office.clock.now(),
            why: None,
            signed: None,
        };
        let event = Transition::Errored {
            failure: toolwright::journal::Failure::OwnerLost,
            effect: record.effect,
            exhausted: false,
        };
        let entry = record.advance(event, note).unwrap();
        let write = CallWrite { expects, record, entries: vec![entry] };
        let unit = Transaction { calls: vec![write], documents: vec![] };
        office.store.commit(unit, office.clock.now()).await.unwrap();
    };
    let (outcome, ()) = futures::future::join(late, meanwhile).await;
    assert_eq!(suspended(outcome).state, State::Indeterminate);
}

/// Whoever writes a finished call back to `ready`, with its own valid decision, has to forge its history too.
#[tokio::test]
async fn a_record_that_contradicts_its_history_is_not_run() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    let approved = office.record(waits.call).await;
    answered(executor.worker().unwrap().resume(waits.call).await);
    let expects = Some(office.record(waits.call).await.version);
    let record = approved.with(|it| it.version = 100);
    let write = CallWrite { expects, record, entries: vec![] };
    let unit = Transaction { calls: vec![write], documents: vec![] };
    office.store.commit(unit, office.clock.now()).await.unwrap();
    let outcome = executor.worker().unwrap().resume(waits.call).await;
    assert!(matches!(outcome, Outcome::Failed(CallFailure::Contradiction { .. })), "{outcome:?}");
    assert_eq!(office.ran.times(), 1);
}

/// A lease is renewed for as long as the call runs.
#[tokio::test(start_paused = true)]
async fn a_long_call_keeps_its_lease() {
    let office = office();
    let executor = office.builder().timeout(Some(Duration::from_secs(100)));
    let executor = executor.retry(RetryPolicy::NONE).build().unwrap();
    let call = Call::new("kept_hang_again", "{}");
    let passing = async {
        for _ in 0..9 {
            tokio::time::sleep(Duration::from_secs(11)).await;
            office.clock.pass(Duration::from_secs(11));
            let swept = office.executor().worker().unwrap().sweep().await.unwrap();
            assert_eq!(swept.lost, 0);
        }
    };
    let (outcome, ()) = futures::future::join(executor.submit(&call), passing).await;
    assert_eq!(kind(&answered(outcome)), "timeout");
    assert_eq!(office.ran.times(), 1);
}

/// `reconcile` of the tool.
#[tokio::test]
async fn a_tool_that_can_tell_says_what_became_of_its_call() {
    for (parcel, then) in [("arrived", State::Succeeded), ("unknown", State::Indeterminate)] {
        let office = office();
        let call = Call::new("kept_ship", format!(r#"{{"parcel":"{parcel}"}}"#));
        let id = claimed_and_gone(&office, call).await;
        office.clock.pass(Duration::from_secs(31));
        office.executor().worker().unwrap().sweep().await.unwrap();
        office.executor().worker().unwrap().sweep().await.unwrap();
        assert_eq!(office.state(id).await, then, "{parcel}");
        assert_eq!(office.ran.times(), 1, "{parcel}");
    }
}

#[tokio::test]
async fn a_call_that_its_tool_says_did_not_happen_is_judged_and_run_again() {
    let office = office();
    let id = claimed_and_gone(&office, Call::new("kept_ship", r#"{"parcel":"lost"}"#)).await;
    office.clock.pass(Duration::from_secs(31));
    let executor = office.builder().timeout(Some(Duration::from_millis(20))).build().unwrap();
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.state(id).await, State::Judging);
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.ran.times(), 2);
    assert_eq!(office.record(id).await.generation, 2);
    let path = path(&office.history(id).await);
    assert!(path.ends_with("judging → ready → running → indeterminate"), "{path}");
}

/// Invariant 8: the life of the run.
#[tokio::test]
async fn a_run_that_has_ended_cancels_what_waits_and_begins_nothing() {
    let office = office();
    let run = office.executor().run("r").start().unwrap();
    let pending = suspended(run.submit(&a_refund()).await).call;
    let decided = suspended(run.submit(&Call::new("kept_refund", r#"{"order":"B"}"#)).await).call;
    office.approve(decided).await.unwrap();
    assert_eq!(run.worker().unwrap().end_run(run.id()).await.unwrap(), 2);
    for call in [pending, decided] {
        assert_eq!(office.state(call).await, State::Cancelled);
        assert_eq!(
            kind(&answered(office.executor().worker().unwrap().resume(call).await)),
            "cancelled"
        );
    }
    assert!(office.approve(pending).await.is_err());
    assert_eq!(office.ran.times(), 0);
}

/// Invariants 5 and 6 while others look too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_who_work_on_one_journal_run_each_call_once() {
    let office = office();
    let executor = office.executor();
    let mut calls = Vec::new();
    for order in 0..20 {
        let call = Call::new("kept_refund", format!(r#"{{"order":"{order}"}}"#));
        calls.push(suspended(executor.submit(&call).await).call);
    }
    let executors: Vec<Executor> = (0..4).map(|_| office.executor()).collect();
    let mut working = tokio::task::JoinSet::new();
    for executor in &executors {
        let worker = executor.worker().unwrap();
        working.spawn(async move { worker.work().await });
    }
    for call in &calls {
        office.approve(*call).await.unwrap();
    }
    for call in &calls {
        answered(executor.worker().unwrap().wait(*call).await);
    }
    assert_eq!(office.ran.times(), 20);
    for executor in executors {
        let _ = executor.drain(Duration::from_secs(5)).await;
    }
    working.join_all().await;
}

/// Changes the world, and asks for what only its caller has.
#[tool(name = "kept_for_caller", approval = "it does")]
async fn for_caller(ticket: &Ticket) -> String {
    ticket.0.to_owned()
}

struct Ticket(&'static str);

/// A service that only a run has is not made up by whoever works on the journal.
#[tokio::test]
async fn a_call_that_needs_its_run_is_resumed_in_it() {
    let office = office();
    let clock = office.clock.clone();
    let executor = Executor::builder(Registry::of([FOR_CALLER]).unwrap())
        .unrestricted()
        .per_run::<Ticket>()
        .journal(
            Journal::new(office.store.clone())
                .trust("ada", office.ada.public())
                .on_no_approver(OnNoApprover::Park)
                .clock(move || clock.now()),
        )
        .build()
        .unwrap();
    let run = executor.run("r").with(Ticket("T-1")).start().unwrap();
    let waits = suspended(run.submit(&Call::new("kept_for_caller", "{}")).await);
    office.approve(waits.call).await.unwrap();
    assert!(executor.worker().unwrap().sweep().await.unwrap().is_nothing());
    let outcome = executor.worker().unwrap().resume(waits.call).await;
    assert!(matches!(outcome, Outcome::Failed(CallFailure::NotHere { .. })), "{outcome:?}");
    assert_eq!(answered(run.worker().unwrap().resume(waits.call).await).text(), "T-1");
}

#[tokio::test]
async fn a_tool_that_is_registered_after_the_build_reconciles_too() {
    let office = office();
    let call = Call::new("kept_ship", r#"{"parcel":"arrived"}"#);
    let id = claimed_and_gone(&office, call).await;
    office.clock.pass(Duration::from_secs(31));
    let builder = Executor::builder(Registry::empty()).unrestricted().journal(office.parking());
    let executor = builder.service_arc(Arc::clone(&office.ran)).build().unwrap();
    executor.registry().register(SHIP).unwrap();
    for _ in 0..2 {
        executor.worker().unwrap().sweep().await.unwrap();
    }
    assert_eq!(office.state(id).await, State::Succeeded);
}
