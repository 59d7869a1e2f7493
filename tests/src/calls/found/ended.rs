//! A run that has ended, wherever it was ended.

use toolwright::Call;
use toolwright::approval::Statement;
use toolwright::journal::{DocumentWrite, State, Store, Transaction};

use super::super::odd::Odd;
use super::super::support::{a_refund, answered, key, office, suspended};
use super::office::{builder, executor};
use crate::support::kind;

const NOTE: &str = r#"{"text":"n"}"#;

#[tokio::test]
async fn a_run_that_was_ended_by_another_process_begins_nothing() {
    let office = office();
    let other = office.executor().run("r").start().unwrap();
    other.worker().unwrap().end_run(other.id()).await.unwrap();
    let run = office.executor().run("r").start().unwrap();
    for outcome in run.submit_turn(1, &[Call::new("kept_note", NOTE), a_refund()]).await {
        assert_eq!(kind(&answered(outcome)), "cancelled");
    }
    assert_eq!(kind(&answered(run.submit(&Call::new("kept_note", NOTE)).await)), "cancelled");
    assert_eq!((office.ran.times(), office.records().await.len()), (0, 0));
    // Others are not concerned.
    answered(office.executor().submit(&Call::new("kept_note", NOTE)).await);
    assert_eq!(office.ran.times(), 1);
}

#[tokio::test]
async fn a_run_that_ends_while_its_call_is_judged_does_not_begin_it() {
    let office = office();
    let store = Odd { inner: office.store.clone(), ..Odd::default() };
    let other = office.executor().run("r").start().unwrap();
    let ends =
        async move { assert_eq!(other.worker().unwrap().end_run(other.id()).await.unwrap(), 0) };
    *store.before_commit.lock().unwrap() = Some(Box::pin(ends));
    let run = office
        .builder()
        .journal(office.parking_in(store))
        .build()
        .unwrap()
        .run("r")
        .start()
        .unwrap();
    let outcome = run.submit_turn(1, &[Call::new("kept_note", NOTE)]).await.remove(0);
    assert_eq!(kind(&answered(outcome)), "cancelled");
    assert_eq!((office.ran.times(), office.records().await.len()), (0, 0));
}

/// Whoever ends the run has said so, and come no further.
#[tokio::test]
async fn a_run_that_ends_while_its_call_is_claimed_does_not_begin_it() {
    let office = office();
    let run = office.executor().run("r").start().unwrap();
    let waits = suspended(run.submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    let store = Odd { inner: office.store.clone(), ..Odd::default() };
    let (inner, now) = (office.store.clone(), office.clock.now());
    let key = "run/r/ended".to_owned();
    let ended = DocumentWrite { key, expects: None, text: Some(now.to_string()) };
    let unit = Transaction { documents: vec![ended], ..Transaction::default() };
    *store.before_commit.lock().unwrap() =
        Some(Box::pin(async move { inner.commit(unit, now).await.unwrap() }));
    let late = office.builder().journal(office.parking_in(store)).build().unwrap();
    assert_eq!(kind(&answered(late.worker().unwrap().resume(waits.call).await)), "cancelled");
    assert_eq!((office.ran.times(), office.state(waits.call).await), (0, State::Cancelled));
}

/// Of two who make the same call of a turn, one is answered before the run ends.
#[tokio::test]
async fn a_call_that_was_answered_before_its_run_ended_keeps_its_answer() {
    let office = office();
    let call = Call::new("kept_note", NOTE);
    let first = office.executor().run("r").start().unwrap();
    let store = Odd { inner: office.store.clone(), ..Odd::default() };
    let meanwhile = async move {
        answered(first.submit_turn(1, &[Call::new("kept_note", NOTE)]).await.remove(0));
        first.worker().unwrap().end_run(first.id()).await.unwrap();
    };
    *store.before_commit.lock().unwrap() = Some(Box::pin(meanwhile));
    let late = office
        .builder()
        .journal(office.parking_in(store))
        .build()
        .unwrap()
        .run("r")
        .start()
        .unwrap();
    assert_eq!(answered(late.submit_turn(1, &[call]).await.remove(0)).text(), "n");
    assert_eq!(office.ran.times(), 1);
}

/// Invariant 15: who has no say ends no call.
#[tokio::test]
async fn a_forged_word_and_the_end_of_its_run_leave_a_call_in_doubt() {
    let office = office();
    let run = executor(&office).run("r").start().unwrap();
    let call = suspended(run.submit(&Call::new("found_breaks", "{}")).await).call;
    let forged =
        Statement::did_not_happen(&office.record(call).await, "mallory", office.clock.now());
    let forged = key("mallory", 9).sign(&forged).unwrap();
    office.service().submit(forged, office.clock.now()).await.unwrap();
    assert_eq!(run.worker().unwrap().end_run(run.id()).await.unwrap(), 0);
    let record = office.record(call).await;
    assert_eq!((record.state, record.answer), (State::Indeterminate, None));
    // What Ada says counts, and the run is over.
    let said = Statement::did_not_happen(&office.record(call).await, "ada", office.clock.now());
    office.say(said).await.unwrap();
    builder(&office).build().unwrap().worker().unwrap().sweep().await.unwrap();
    let answer = office.record(call).await.answer.unwrap().text;
    assert!(answer.contains("has ended") && !answer.contains("may have happened"), "{answer}");
}
