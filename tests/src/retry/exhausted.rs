//! Where attempts end: dead letters, budgets, lost owners.

use std::time::Duration;

use toolwright::ErrorClass;
use toolwright::journal::{Failure, State};
use toolwright::retry::RetryPolicy;

use super::support::{Desk, EVEN, Step, again, said, until_tried};
use crate::calls::support::{answered, suspended};
use crate::support::{call, kind};

#[tokio::test(start_paused = true)]
async fn a_call_that_is_exhausted_is_dead_with_its_tools_last_error_and_all_of_its_failures() {
    let desk = Desk::of([
        Step::Fail(ErrorClass::Transient),
        Step::Hang,
        Step::Fail(ErrorClass::Transient),
    ]);
    assert_eq!(said(&answered(desk.executor().submit(&again()).await)), "attempt 3 failed");
    assert_eq!(
        desk.path().await,
        "judging → ready → running → ready → running → ready → running → dead"
    );
    let record = desk.record().await;
    let failures: Vec<_> = record.failures.iter().map(|it| (it.attempt, it.failure)).collect();
    let expected = [Failure::Transient, Failure::TimedOut, Failure::Transient];
    assert_eq!(failures, (1..).zip(expected).collect::<Vec<_>>());
    assert!(record.answer.unwrap().text.contains("attempt 3 failed"));
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_a_tool_that_may_be_repeated_is_dead_at_once() {
    let desk = Desk::of([Step::Panic]);
    assert_eq!(kind(&answered(desk.executor().submit(&again()).await)), "panic");
    assert_eq!((desk.record().await.state, desk.script.times()), (State::Dead, 1));
}

#[tokio::test(start_paused = true)]
async fn what_must_not_be_repeated_and_may_have_acted_is_indeterminate_and_never_tried_again() {
    for step in [
        Step::Hang,
        Step::Panic,
        Step::Fail(ErrorClass::Transient),
        Step::Fail(ErrorClass::Unknown),
    ] {
        let desk = Desk::of([step.clone()]);
        let executor = desk.executor();
        let waits = suspended(executor.submit(&call("scripted_once")).await);
        assert_eq!(waits.state, State::Indeterminate, "{step:?}");
        tokio::time::sleep(Duration::from_secs(86_400)).await;
        executor.worker().unwrap().sweep().await.unwrap();
        executor.worker().unwrap().resume(waits.call).await;
        assert_eq!(desk.script.times(), 1, "{step:?}");
        assert_eq!(desk.record().await.state, State::Indeterminate, "{step:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_retries_are_used_up_has_dead_calls_and_others_have_not() {
    let desk = Desk::fails(9, ErrorClass::Transient);
    let executor = desk.builder().retries_per_run(1).build().unwrap();
    let run = executor.run("spends").start().unwrap();
    assert_eq!(said(&answered(run.submit(&again()).await)), "attempt 2 failed");
    assert_eq!(desk.record().await.state, State::Dead);
}

/// A worker has no budget for the calls of others, which would be used up some day.
#[tokio::test(start_paused = true)]
async fn a_worker_spends_nothing_on_calls_of_other_runs() {
    let desk = Desk::fails(2, ErrorClass::Transient);
    let executor = desk.builder().retries_per_run(1).build().unwrap();
    let run = executor.run("gone").start().unwrap();
    let call = again();
    tokio::select! {
        biased;
        _ = run.submit(&call) => unreachable!("it waits"),
        () = until_tried(&desk.script, 1) => {}
    }
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_secs(10)).await;
        executor.worker().unwrap().sweep().await.unwrap();
    }
    assert_eq!((desk.record().await.state, desk.script.times()), (State::Succeeded, 3));
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_is_lost_takes_an_attempt_like_any_failure() {
    for (attempts, state) in [(1, State::Dead), (2, State::Succeeded)] {
        let desk = Desk::of([Step::Hang]);
        let builder = || desk.builder().retry(EVEN.attempts(attempts)).timeout(None);
        // A runtime that is gone takes its tasks with it, and nothing of them is recorded.
        let lost = builder().build().unwrap();
        let call = again();
        let mut running = Box::pin(lost.submit(&call));
        while desk.script.times() == 0 {
            assert!(futures::poll!(&mut running).is_pending());
            tokio::task::yield_now().await;
        }
        std::mem::forget(running);
        tokio::time::sleep(Duration::from_secs(31)).await;
        let next = builder().build().unwrap();
        assert_eq!(next.worker().unwrap().sweep().await.unwrap().lost, 1);
        let record = desk.record().await;
        assert_eq!(record.state, state, "{attempts} attempts");
        assert_eq!(record.failures[0].failure, Failure::OwnerLost);
    }
}

#[tokio::test(start_paused = true)]
async fn a_policy_of_one_attempt_tries_nothing_again() {
    let desk = Desk::fails(9, ErrorClass::Transient);
    let executor = desk.builder().retry(RetryPolicy::NONE).build().unwrap();
    assert_eq!(said(&answered(executor.submit(&again()).await)), "attempt 1 failed");
    assert_eq!((desk.record().await.state, desk.script.times()), (State::Dead, 1));
}
