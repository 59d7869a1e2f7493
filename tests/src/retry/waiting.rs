//! A call that waits for its next attempt holds no place, and is let go like any other; no journal keeps it.

use std::time::Duration;

use toolwright::{CancellationToken, ErrorClass};

use super::support::{Script, again, said, until_tried, with_script};
use crate::support::{PING, answer, call, kind};

#[tokio::test(start_paused = true)]
async fn the_place_of_a_call_is_free_while_it_waits() {
    let script = Script::fails(1, ErrorClass::Transient);
    let executor = with_script(&script).limit(1).build().unwrap();
    executor.registry().register(PING).unwrap();
    let waiting = answer(&executor, again());
    let meanwhile = async {
        until_tried(&script, 1).await;
        let passed = kind(&executor.call(&call("ping")).await);
        (passed, script.times())
    };
    let (waited, meanwhile) = tokio::join!(waiting, meanwhile);
    assert_eq!(meanwhile, ("ok".to_owned(), 1));
    assert_eq!(waited.text(), "done in attempt 2");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_given_up_while_it_waits_is_answered_at_once_and_tried_no_more() {
    for is_run in [false, true] {
        let script = Script::fails(9, ErrorClass::Transient);
        let executor = with_script(&script).build().unwrap();
        let token = CancellationToken::new();
        let (run, call) = match is_run {
            true => (executor.run("r").cancelled_by(token.clone()), again()),
            false => (executor.run("r"), again().cancelled_by(token.clone())),
        };
        let run = run.start().unwrap();
        let began = tokio::time::Instant::now();
        let (given_up, ()) = tokio::join!(run.call(&call), async {
            until_tried(&script, 1).await;
            token.cancel();
        });
        assert_eq!(given_up.error().unwrap().classified(), ErrorClass::Cancelled);
        assert!(began.elapsed().is_zero(), "the clock has not moved");
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(script.times(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_executor_that_shuts_down_answers_what_waits_with_its_own_error() {
    let script = Script::fails(9, ErrorClass::Transient);
    let executor = with_script(&script).build().unwrap();
    let began = tokio::time::Instant::now();
    let (ended, drained) = tokio::join!(answer(&executor, again()), async {
        until_tried(&script, 1).await;
        executor.drain(Duration::from_secs(100)).await
    });
    assert_eq!((said(&ended).as_str(), drained.cancelled), ("attempt 1 failed", 0));
    assert!(began.elapsed().is_zero(), "the clock has not moved");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_while_it_waits_is_tried_no_more() {
    let script = Script::fails(9, ErrorClass::Transient);
    let executor = with_script(&script).build().unwrap();
    tokio::select! {
        biased;
        _ = answer(&executor, again()) => unreachable!("it waits"),
        () = until_tried(&script, 1) => {}
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(script.times(), 1);
}

/// A read that the journal does not keep is tried again in memory.
#[tokio::test(start_paused = true)]
async fn a_read_that_is_not_kept_is_tried_again_and_leaves_no_record() {
    use toolwright::journal::{Filter, Page, Store as _};
    let desk = super::support::Desk::fails(2, ErrorClass::Transient);
    let outcome = desk.executor().submit(&call("scripted_read")).await;
    assert_eq!(outcome.answer().unwrap().text(), "done in attempt 3");
    assert!(desk.store.list(&Filter::default(), Page::first(1)).await.unwrap().is_empty());
}
