//! Invariant 10: a deadline answers the call and wakes the run.

use std::time::Duration;

use toolwright::journal::State;

use super::support::{a_refund, answered, office, path, suspended};
use crate::support::kind;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[tokio::test]
async fn what_nobody_decides_in_time_is_answered() {
    let office = office();
    let waits = suspended(office.executor().submit(&a_refund()).await);
    office.clock.pass(DAY);
    assert_eq!(office.executor().worker().unwrap().sweep().await.unwrap().expired, 1);
    assert_eq!(
        kind(&answered(office.executor().worker().unwrap().resume(waits.call).await)),
        "expired"
    );
    assert_eq!(path(&office.history(waits.call).await), "judging → pending → expired");
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_decision_is_woken_by_the_deadline() {
    let office = office();
    let executor = office.executor();
    let call = a_refund();
    let waiting = executor.call(&call);
    let passing = async {
        while office.records().await.is_empty() {
            tokio::task::yield_now().await;
        }
        office.clock.pass(DAY);
    };
    let (answer, ()) = futures::future::join(waiting, passing).await;
    assert_eq!(kind(&answer), "expired");
    assert_eq!(office.ran.times(), 0);
}

#[tokio::test]
async fn a_decision_after_the_deadline_is_told_so() {
    let office = office();
    let executor = office
        .builder()
        .journal(office.parking().approval_expires_after(Duration::from_secs(60)))
        .build()
        .unwrap();
    let waits = suspended(executor.submit(&a_refund()).await);
    office.clock.pass(Duration::from_secs(61));
    executor.worker().unwrap().sweep().await.unwrap();
    let error = office.approve(waits.call).await.unwrap_err();
    assert!(error.to_string().contains("expired"), "{error}");
    assert_eq!(office.state(waits.call).await, State::Expired);
}

/// Approve against expire: one wins, the other is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn approve_races_expiry_and_one_wins() {
    for _ in 0..30 {
        let office = office();
        let executor = office.executor();
        let waits = suspended(executor.submit(&a_refund()).await);
        office.clock.pass(DAY);
        let sweeping = tokio::spawn({
            let executor = executor.clone();
            async move { executor.worker().unwrap().sweep().await.unwrap() }
        });
        let approved = office.approve(waits.call).await.is_ok();
        sweeping.await.unwrap();
        executor.worker().unwrap().sweep().await.unwrap();
        let state = office.state(waits.call).await;
        assert_eq!(state == State::Expired, !approved, "{state}");
        assert_eq!(office.ran.times(), usize::from(approved));
    }
}
