//! Dead letters that were requeued and do not run stay dead letters, and their runs hear nothing new.

use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use toolwright::CallId;
use toolwright::journal::{State, Transition};

use super::super::dead::office::{Letters, letters, told};

/// A letter that an operator has sent abroad, where a person has to decide.
async fn asked(letters: &Letters) -> CallId {
    let (id, _) = letters.die().await;
    letters.edit(id, r#"{"to":"abroad"}"#).await;
    letters.executor().sweep().await.unwrap();
    assert_eq!(letters.office.state(id).await, State::Pending);
    id
}

async fn is_as_dead_as_before(letters: &Letters, id: CallId, answer: &str) {
    let record = letters.office.record(id).await;
    assert_eq!((record.state, record.result), (State::Dead, None));
    assert_eq!(record.answer.unwrap().text, answer);
    let last = letters.office.history(id).await.pop().unwrap();
    assert_eq!(last.event, Some(Transition::PutBack));
    assert_eq!(letters.office.ran.times(), 1);
    // Nothing is lost: it may be tried again.
    letters.broken.0.store(false, SeqCst);
    letters.edit(id, r#"{"to":"eve"}"#).await;
}

#[tokio::test]
async fn a_requeued_letter_that_nobody_approves_in_time_is_a_letter_again() {
    let letters = letters();
    let id = asked(&letters).await;
    let answer = letters.office.record(id).await.answer.unwrap().text;
    letters.office.clock.pass(Duration::from_secs(25 * 60 * 60));
    letters.executor().sweep().await.unwrap();
    is_as_dead_as_before(&letters, id, &answer).await;
    letters.executor().sweep().await.unwrap();
    assert_eq!(letters.office.state(id).await, State::Succeeded);
}

#[tokio::test]
async fn a_requeued_letter_whose_run_ends_is_a_letter_again() {
    let letters = letters();
    let id = asked(&letters).await;
    let answer = letters.office.record(id).await.answer.unwrap().text;
    assert_eq!(letters.run().end_run().await.unwrap(), 0);
    is_as_dead_as_before(&letters, id, &answer).await;
}

/// Invariant 12.
#[tokio::test]
async fn what_is_told_of_a_requeued_letter_is_the_same_before_while_and_after_it_runs() {
    let letters = letters();
    let (id, answer) = letters.die().await;
    letters.broken.0.store(false, SeqCst);
    letters.requeue(id, false).await;
    let executor = letters.executor();
    for _ in 0..3 {
        assert_eq!(told(executor.resume(id).await), answer);
        assert_eq!(told(executor.wait(id).await), answer);
        assert_eq!(letters.turn().await, answer);
    }
    let record = letters.office.record(id).await;
    assert_eq!((record.state, letters.office.ran.times()), (State::Succeeded, 2));
    assert_eq!(record.result.unwrap().text, "sent 1 to eve");
}
