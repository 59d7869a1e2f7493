//! Those who run calls: lost although they live, dropped although the call is not theirs.

use std::time::Duration;

use toolwright::journal::{State, Store};
use toolwright::retry::RetryPolicy;
use toolwright::{Call, CallId, Worker};

use super::super::odd::Odd;
use super::super::support::{Office, a_refund, office, path, suspended};
use super::office::{begun, builder, executor, killed};

/// The record and its history are read one after the other.
#[tokio::test]
async fn a_sweeper_does_not_pause_a_call_that_somebody_else_claims_meanwhile() {
    let office = office();
    let waits = suspended(office.executor().submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    let store = Odd { inner: office.store.clone(), late_histories: true, ..Odd::default() };
    let late = office.builder().journal(office.parking_in(store)).build().unwrap();
    let other = office.executor();
    let (swept, _) = futures::future::join(
        late.worker().unwrap().sweep(),
        other.worker().unwrap().resume(waits.call),
    )
    .await;
    assert_eq!((swept.unwrap().left, office.ran.times()), (0, 1));
}

#[tokio::test]
async fn an_owner_whose_lease_is_renewed_while_a_sweep_looks_keeps_its_call() {
    let office = office();
    let call = begun(&office, "found_again").await;
    let record = office.record(call).await;
    office.clock.pass(Duration::from_secs(31));
    let until = office.clock.now() + Duration::from_secs(30);
    let store = Odd { inner: office.store.clone(), ..Odd::default() };
    let inner = office.store.clone();
    *store.before_commit.lock().unwrap() =
        Some(Box::pin(async move { inner.renew(call, record.epoch, until).await.unwrap() }));
    let sweeper = builder(&office).journal(office.parking_in(store)).build().unwrap();
    assert_eq!(sweeper.worker().unwrap().sweep().await.unwrap().lost, 0);
    let now = office.record(call).await;
    assert_eq!((now.state, now.owner, now.lease), (State::Running, record.owner, Some(until)));
    office.clock.pass(Duration::from_secs(31));
    killed(&office, move || async move { sweeper.worker().unwrap().sweep().await });
    let path = path(&office.history(call).await);
    assert_eq!(path, "judging → ready → running → ready → running");
}

/// A call of somebody else that a worker runs, or would, when it is dropped.
async fn worked_on(office: &Office, worker: Worker, tool: &'static str) -> CallId {
    let call = suspended(executor(office).submit(&Call::new(tool, "{}")).await).call;
    office.approve(call).await.unwrap();
    dropped(office, worker).await;
    call
}

async fn dropped(office: &Office, worker: Worker) {
    let before = office.ran.times();
    let working = tokio::spawn(async move { worker.work().await });
    while office.ran.times() == before {
        tokio::task::yield_now().await;
    }
    working.abort();
    assert!(working.await.unwrap_err().is_cancelled());
    let records = async || office.records().await;
    while records().await.iter().any(|record| record.state == State::Running) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_worker_that_is_dropped_leaves_a_begun_call_to_others() {
    let office = office();
    let call = worked_on(&office, executor(&office).worker().unwrap(), "found_stuck").await;
    let record = office.record(call).await;
    assert_eq!((record.state, record.attempt, record.answer), (State::Ready, 1, None));
    assert_eq!(record.failures.len(), 1);
}

#[tokio::test]
async fn a_worker_that_is_dropped_leaves_a_call_that_must_not_repeat_in_doubt() {
    let office = office();
    let call = worked_on(&office, executor(&office).worker().unwrap(), "found_stuck_once").await;
    let record = office.record(call).await;
    assert_eq!((record.state, record.answer), (State::Indeterminate, None));
}

#[tokio::test]
async fn a_call_whose_workers_are_dropped_again_and_again_dies() {
    let office = office();
    let executor = || builder(&office).retry(RetryPolicy::TOOL.attempts(2)).build().unwrap();
    let worker = || executor().worker().unwrap();
    let call = worked_on(&office, worker(), "found_stuck").await;
    dropped(&office, worker()).await;
    let record = office.record(call).await;
    assert_eq!((record.state, office.ran.times()), (State::Dead, 2));
    assert!(record.answer.unwrap().text.contains("its last owner was lost"));
}

/// It has a place to run in only when the first is done.
#[tokio::test]
async fn a_worker_that_is_dropped_cancels_nothing_that_it_has_not_begun() {
    let office = office();
    let made = executor(&office);
    let mut calls = Vec::new();
    for _ in 0..3 {
        let call = suspended(made.submit(&Call::new("found_stuck", "{}")).await).call;
        office.approve(call).await.unwrap();
        calls.push(call);
    }
    dropped(&office, builder(&office).limit(1).build().unwrap().worker().unwrap()).await;
    for call in calls {
        assert_eq!(office.state(call).await, State::Ready);
    }
}

/// Who made the call does not want it any more.
#[tokio::test]
async fn a_caller_that_goes_cancels_its_call() {
    let office = office();
    let (made, ran) = (executor(&office), office.ran.clone());
    let call = Call::new("found_again", "{}");
    tokio::select! {
        biased;
        _ = made.submit(&call) => unreachable!(),
        () = async { while ran.times() == 0 { tokio::task::yield_now().await } } => {}
    }
    while office.records().await[0].state == State::Running {
        tokio::task::yield_now().await;
    }
    assert_eq!(office.records().await[0].state, State::Cancelled);
}

#[tokio::test]
async fn a_worker_that_is_drained_leaves_what_takes_too_long_to_others() {
    let office = office();
    let call = suspended(executor(&office).submit(&Call::new("found_stuck", "{}")).await).call;
    office.approve(call).await.unwrap();
    let executor = executor(&office);
    let working = tokio::spawn({
        let executor = executor.clone();
        async move { executor.worker().unwrap().work().await }
    });
    while office.ran.times() == 0 {
        tokio::task::yield_now().await;
    }
    let _ = executor.drain(Duration::from_millis(1)).await;
    working.await.unwrap();
    let record = office.record(call).await;
    assert_eq!((record.state, record.answer), (State::Ready, None));
}
