//! The time for a whole call: its attempts, the time between them, and the wait for a place.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolwright::approval::{self, Statement};
use toolwright::journal::{Failure, State};
use toolwright::{DynamicTool, ErrorClass, Executor, Registry, tool};

use super::support::{Desk, NOT_STARTED, Script, Step, again, with_script};
use crate::calls::support::{answered, key, suspended};
use crate::support::{answer, call, kind};

const SECOND: Duration = Duration::from_secs(1);

/// Waits for ever, five times for a second, and for 2500 milliseconds altogether.
#[tool(effect = read, timeout = "1s", total_timeout = "2500ms", retry(attempts = 5, delay = "1ms"))]
async fn hang_by_the_second() {
    crate::support::forever().await
}

/// Waits for ever, whatever the executor says of the whole call.
#[tool(effect = read, timeout = "1s", total_timeout = none, retry(attempts = 5, delay = "1ms"))]
async fn hang_as_often_as_it_may() {
    crate::support::forever().await
}

async fn timed(executor: &Executor, name: &'static str) -> (String, Duration) {
    let began = Instant::now();
    let answer = executor.call(&call(name)).await;
    (answer.error().expect("it hangs").to_string(), began.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_when_the_time_for_all_its_attempts_is_over() {
    let registry = Registry::of([HANG_BY_THE_SECOND, HANG_AS_OFTEN_AS_IT_MAY]).unwrap();
    let executor =
        Executor::builder(registry).unrestricted().total_timeout(Some(3 * SECOND)).build().unwrap();
    let (words, took) = timed(&executor, "hang_by_the_second").await;
    assert_eq!(
        words,
        "`hang_by_the_second` was stopped because the whole call took longer than 2.5s"
    );
    assert_eq!(took.as_millis() / 100, 25);
    let (words, took) = timed(&executor, "hang_as_often_as_it_may").await;
    assert_eq!(words, "`hang_as_often_as_it_may` was stopped because it took longer than 1s");
    assert_eq!(took.as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_call_is_not_tried_again_after_its_time_and_gives_its_last_answer() {
    // Delays of 1, 2 and 4 seconds: the third attempt would begin after 3.
    for (total, attempts) in [(None, 3), (Some(4), 3), (Some(3), 2), (Some(1), 1)] {
        let script = Script::fails(9, ErrorClass::Transient);
        let builder = with_script(&script).total_timeout(total.map(|it| it * SECOND));
        let answer = answer(&builder.build().unwrap(), call("scripted_read")).await;
        assert_eq!((kind(&answer), script.times()), ("scripted".to_owned(), attempts), "{total:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_gets_no_place_in_time_is_not_begun() {
    let script = Script::of([Step::Hang]);
    let executor =
        with_script(&script).limit(1).timeout(None).total_timeout(Some(SECOND)).build().unwrap();
    let began = Instant::now();
    let first = call("scripted_again");
    let second = call("scripted_once");
    let (held, waited) = tokio::join!(executor.call(&first), executor.call(&second));
    assert_eq!((kind(&held), kind(&waited)), ("timeout".to_owned(), "timeout".to_owned()));
    let error = waited.error().unwrap();
    assert_eq!(error.classified(), ErrorClass::NotStarted { retry_after: None });
    assert_eq!((script.times(), began.elapsed()), (1, SECOND));
}

#[tokio::test(start_paused = true)]
async fn a_dynamic_tool_has_a_time_for_the_whole_call_too() {
    let tool = DynamicTool::new("slow", "Waits.", serde_json::json!({"type": "object"}), |_, _| {
        crate::support::forever::<Result<(), _>>()
    });
    let tool = tool.timeout(None).total_timeout(Some(SECOND));
    let executor = Executor::builder(Registry::of([tool]).unwrap()).unrestricted().build().unwrap();
    let (words, took) = timed(&executor, "slow").await;
    assert_eq!(words, "`slow` was stopped because the whole call took longer than 1s");
    assert_eq!(took, SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_call_in_a_journal_is_not_tried_again_after_its_time() {
    let desk = Desk::fails(9, ErrorClass::Transient);
    let executor = desk.builder().total_timeout(Some(3 * SECOND)).build().unwrap();
    let answer = answered(executor.submit(&again()).await);
    assert_eq!((kind(&answer), desk.script.times()), ("scripted".to_owned(), 2));
    assert_eq!(desk.record().await.state, State::Dead);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_in_a_journal_is_stopped_when_the_time_of_its_call_is_over() {
    let desk = Desk::of([Step::Fail(ErrorClass::Transient), Step::Hang]);
    let executor =
        desk.builder().timeout(Some(60 * SECOND)).total_timeout(Some(5 * SECOND)).build().unwrap();
    let began = Instant::now();
    let answer = answered(executor.submit(&again()).await);
    assert_eq!(
        answer.error().unwrap().message(),
        "`scripted_again` was stopped because the whole call took longer than 5s"
    );
    assert_eq!(began.elapsed().as_secs(), 5, "the first attempt and the delay count");
    let record = desk.record().await;
    assert_eq!((record.state, record.failures[1].failure), (State::Dead, Failure::TimedOut));
}

/// What runs `once` may have happened when it is stopped.
#[tokio::test(start_paused = true)]
async fn a_call_that_runs_once_and_is_stopped_by_its_whole_time_is_indeterminate() {
    let desk = Desk::of([Step::Hang]);
    let executor = desk.builder().timeout(None).total_timeout(Some(SECOND)).build().unwrap();
    let waits = suspended(executor.submit(&call("scripted_once")).await);
    assert_eq!(waits.state, State::Indeterminate);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_would_begin_too_late_does_not_begin() {
    let desk = Desk::of([Step::Fail(NOT_STARTED)]);
    let executor = Arc::new(desk.builder().total_timeout(Some(2 * SECOND)).build().unwrap());
    let call = again();
    let mut left = Box::pin(executor.submit(&call));
    while desk.script.times() == 0 {
        assert!(futures::poll!(&mut left).is_pending());
    }
    drop(left);
    tokio::time::sleep(60 * SECOND).await;
    let record = desk.record().await;
    assert_eq!(record.state, State::Ready, "it waits for its second attempt");
    let answer = answered(executor.worker().unwrap().resume(record.id).await);
    assert_eq!(
        answer.error().unwrap().message(),
        "`scripted_again` was not begun in time: the whole call may take 2s"
    );
    assert_eq!((desk.script.times(), desk.record().await.state), (1, State::Dead));
}

#[tokio::test(start_paused = true)]
async fn the_time_that_a_person_takes_does_not_count() {
    let ada = key("ada", 1);
    let desk = Desk::fails(1, ErrorClass::Transient);
    let builder = desk
        .builder()
        .journal(desk.parking().trust("ada", ada.public()))
        .total_timeout(Some(3 * SECOND));
    let executor = builder.build().unwrap();
    let waits = suspended(executor.submit(&call("scripted_asking")).await);
    tokio::time::sleep(3600 * SECOND).await;
    let record = desk.record().await;
    let statement = Statement::approve(&record, "ada", record.updated);
    let people = approval::ApprovalService::new(Arc::new(desk.store.clone()));
    people.submit(ada.sign(&statement).unwrap(), record.updated).await.unwrap();
    let answer = answered(executor.worker().unwrap().wait(waits.call).await);
    assert_eq!((answer.text().as_ref(), desk.script.times()), ("done in attempt 2", 2));
}
