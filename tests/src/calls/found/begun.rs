//! Calls that were begun before, and what becomes of them.

use std::time::Duration;

use toolwright::approval::Statement;
use toolwright::journal::State;
use toolwright::retry::RetryPolicy;
use toolwright::{Call, CallId, Run};

use super::super::support::{Office, office, suspended};
use super::office::{begun, builder, executor, killed, later, refusing};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Approved, begun, and pending again because nobody heard of its owner until the approval had lapsed.
async fn asked_again(office: &Office, run: &Run) -> CallId {
    let call = suspended(run.submit(&Call::new("found_stuck", "{}")).await).call;
    office.approve(call).await.unwrap();
    let resumed = run.clone();
    killed(office, move || async move { resumed.worker().unwrap().resume(call).await });
    office.clock.pass(DAY + DAY);
    run.worker().unwrap().sweep().await.unwrap();
    let record = office.record(call).await;
    assert_eq!((record.state, record.attempt, record.epoch), (State::Pending, 0, 1));
    call
}

async fn told(office: &Office, call: CallId, state: State) -> String {
    let record = office.record(call).await;
    assert_eq!(record.state, state);
    record.answer.unwrap().text
}

const BEGUN: &str = "it was begun once before, and may have happened";

#[tokio::test]
async fn a_begun_call_that_is_rejected_is_not_answered_as_if_nothing_had_happened() {
    let office = office();
    let call = asked_again(&office, &executor(&office).run("r").start().unwrap()).await;
    office.reject(call, "not now").await.unwrap();
    let answer = told(&office, call, State::Rejected).await;
    assert!(answer.contains("not now") && answer.contains(BEGUN), "{answer}");
}

#[tokio::test]
async fn a_begun_call_that_expires_is_not_answered_as_if_nothing_had_happened() {
    let office = office();
    let call = asked_again(&office, &executor(&office).run("r").start().unwrap()).await;
    office.clock.pass(DAY + DAY);
    executor(&office).worker().unwrap().sweep().await.unwrap();
    let answer = told(&office, call, State::Expired).await;
    assert!(answer.contains(BEGUN), "{answer}");
}

#[tokio::test]
async fn a_begun_call_that_ends_with_its_run_is_not_answered_as_if_nothing_had_happened() {
    let office = office();
    let run = executor(&office).run("r").start().unwrap();
    let call = asked_again(&office, &run).await;
    assert_eq!(run.worker().unwrap().end_run(run.id()).await.unwrap(), 1);
    let answer = told(&office, call, State::Cancelled).await;
    assert!(answer.contains(BEGUN), "{answer}");
}

#[tokio::test]
async fn a_begun_call_that_is_refused_is_not_answered_as_if_nothing_had_happened() {
    let office = office();
    let call = begun(&office, "found_again").await;
    office.clock.pass(Duration::from_secs(31));
    let strict = refusing(&office);
    strict.worker().unwrap().sweep().await.unwrap();
    let answer = told(&office, call, State::Refused).await;
    assert!(answer.contains(BEGUN), "{answer}");
}

#[tokio::test]
async fn a_call_that_was_found_not_to_have_happened_is_rejected_without_a_word_of_it() {
    let office = office();
    let call = suspended(executor(&office).submit(&Call::new("found_stuck_once", "{}")).await).call;
    office.approve(call).await.unwrap();
    let resumed = executor(&office);
    killed(&office, move || async move { resumed.worker().unwrap().resume(call).await });
    office.clock.pass(Duration::from_secs(31));
    executor(&office).worker().unwrap().sweep().await.unwrap();
    let said = Statement::did_not_happen(&office.record(call).await, "ada", office.clock.now());
    office.say(said).await.unwrap();
    executor(&office).worker().unwrap().sweep().await.unwrap();
    office.reject(call, "not now").await.unwrap();
    let answer = told(&office, call, State::Rejected).await;
    assert!(!answer.contains("begun"), "{answer}");
}

/// Once it may have acted, nobody begins it again as something that must not be repeated.
#[tokio::test]
async fn a_begun_call_whose_tool_must_not_be_repeated_any_more_is_left_to_people() {
    let office = office();
    let call = begun(&office, "found_again").await;
    office.clock.pass(Duration::from_secs(31));
    let later = later(&office);
    later.worker().unwrap().sweep().await.unwrap();
    let record = office.record(call).await;
    assert_eq!((record.state, office.ran.times()), (State::Indeterminate, 1));
    let why = office.history(call).await.pop().unwrap().why.unwrap();
    assert!(why.contains("must not be repeated any more"), "{why}");
    let said = Statement::did_not_happen(&record, "ada", office.clock.now());
    office.say(said).await.unwrap();
    later.worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.state(call).await, State::Succeeded);
    assert_eq!(office.ran.all(), ["again", "again, once"]);
}

#[tokio::test]
async fn a_call_that_its_tool_finds_undone_again_and_again_dies() {
    let office = office();
    let call = begun(&office, "found_in_vain").await;
    let executor = builder(&office).retry(RetryPolicy::TOOL.attempts(3)).build().unwrap();
    for times in 2..=3 {
        office.clock.pass(Duration::from_secs(31));
        // Lost, and reconciled.
        executor.worker().unwrap().sweep().await.unwrap();
        assert_eq!(office.state(call).await, State::Judging);
        let again = executor.clone();
        killed(&office, move || async move { again.worker().unwrap().sweep().await });
        assert_eq!(office.ran.times(), times);
    }
    office.clock.pass(Duration::from_secs(31));
    executor.worker().unwrap().sweep().await.unwrap();
    executor.worker().unwrap().sweep().await.unwrap();
    let record = office.record(call).await;
    assert_eq!((record.state, office.ran.times()), (State::Dead, 3));
    assert_eq!(record.failures.len(), 3);
    assert!(record.answer.unwrap().text.contains("and did not happen"));
}
