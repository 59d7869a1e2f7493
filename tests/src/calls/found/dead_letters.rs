//! Dead letters that were requeued and do not run stay dead letters, and their runs hear nothing new.

use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use toolwright::CallId;
use toolwright::journal::{State, Transition};

use super::super::dead::office::{DeadLetters, dead_letters, told};

/// A letter that an operator has sent abroad, where a person has to decide.
async fn asked(dead_letters: &DeadLetters) -> CallId {
    let (id, _) = dead_letters.die().await;
    dead_letters.edit(id, r#"{"to":"abroad"}"#).await;
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    assert_eq!(dead_letters.office.state(id).await, State::Pending);
    id
}

async fn is_as_dead_as_before(dead_letters: &DeadLetters, id: CallId, answer: &str) {
    let record = dead_letters.office.record(id).await;
    assert_eq!((record.state, record.result), (State::Dead, None));
    assert_eq!(record.answer.unwrap().text, answer);
    let last = dead_letters.office.history(id).await.pop().unwrap();
    assert_eq!(last.event, Some(Transition::PutBack));
    assert_eq!(dead_letters.office.ran.times(), 1);
    // Nothing is lost: it may be tried again.
    dead_letters.broken.0.store(false, SeqCst);
    dead_letters.edit(id, r#"{"to":"eve"}"#).await;
}

#[tokio::test]
async fn a_requeued_letter_that_nobody_approves_in_time_is_a_letter_again() {
    let dead_letters = dead_letters();
    let id = asked(&dead_letters).await;
    let answer = dead_letters.office.record(id).await.answer.unwrap().text;
    dead_letters.office.clock.pass(Duration::from_secs(25 * 60 * 60));
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    is_as_dead_as_before(&dead_letters, id, &answer).await;
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    assert_eq!(dead_letters.office.state(id).await, State::Succeeded);
}

#[tokio::test]
async fn a_requeued_letter_whose_run_ends_is_a_letter_again() {
    let dead_letters = dead_letters();
    let id = asked(&dead_letters).await;
    let answer = dead_letters.office.record(id).await.answer.unwrap().text;
    assert_eq!(dead_letters.executor().worker().unwrap().end_run("r").await.unwrap(), 0);
    is_as_dead_as_before(&dead_letters, id, &answer).await;
}

/// Invariant 12.
#[tokio::test]
async fn what_is_told_of_a_requeued_letter_is_the_same_before_while_and_after_it_runs() {
    let dead_letters = dead_letters();
    let (id, answer) = dead_letters.die().await;
    dead_letters.broken.0.store(false, SeqCst);
    dead_letters.requeue(id, false).await;
    let executor = dead_letters.executor();
    for _ in 0..3 {
        assert_eq!(told(executor.worker().unwrap().resume(id).await), answer);
        assert_eq!(told(executor.worker().unwrap().wait(id).await), answer);
        assert_eq!(dead_letters.turn().await, answer);
    }
    let record = dead_letters.office.record(id).await;
    assert_eq!((record.state, dead_letters.office.ran.times()), (State::Succeeded, 2));
    assert_eq!(record.result.unwrap().text, "sent 1 to eve");
}
