//! What went wrong with the dead letters of another system, and must not with these: permanent failures that were
//! retried in each loop, only what was not worth it in the queue, a new row for each retry, a letter lost on its way,
//! side effects hours later.

use std::time::Duration;

use toolwright::journal::{
    CallRecord, CallSlot, CallWrite, Failure, Filter, Note, Page, State, Store, Transaction,
    Transition,
};
use toolwright::{Call, CallFailure, CallId, Outcome};

use super::super::odd::Odd;
use super::super::support::path;
use super::office::{a_dead_letter, dead_letters, told};
use crate::support::kind;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// (a) There, that a failure had no time of its next attempt counted as being ready.
#[tokio::test]
async fn a_letter_without_a_time_for_its_next_attempt_is_never_due() {
    let dead_letters = dead_letters();
    let (id, _) = dead_letters.die().await;
    let record = dead_letters.office.record(id).await;
    assert_eq!((record.not_before, record.due()), (None, None));
    for _ in 0..5 {
        dead_letters.office.clock.pass(30 * DAY);
        assert!(dead_letters.executor().worker().unwrap().sweep().await.unwrap().is_nothing());
    }
    assert_eq!(
        (dead_letters.office.record(id).await, dead_letters.office.ran.times()),
        (record, 1)
    );
}

/// (b) There, exactly that was queued which was not worth trying again.
#[tokio::test]
async fn what_was_tried_as_often_as_it_may_be_is_a_letter_and_an_ordinary_failure_is_none() {
    let dead_letters = dead_letters();
    let executor = dead_letters.executor();
    let ordinary = executor.call(&Call::new("letter_seek", "{}")).await;
    assert_eq!(kind(&ordinary), "not_found");
    let of_it = dead_letters.office.records().await;
    assert_eq!(of_it[0].state, State::Failed);

    executor.submit(&a_dead_letter()).await;
    let like = dead_letters.office.records().await.pop().unwrap();
    let id: CallId = "0199a0b0-0001-7000-8000-0000000000a1".parse().unwrap();
    let place = CallSlot { run: "r".to_owned(), turn: None, index: 0 };
    let now = dead_letters.office.clock.now();
    let note = || Note { who: "executor:gone".to_owned(), at: now, why: None, signed: None };
    let mut lost = CallRecord::draft(id, place, like.tool, now).with(|it| it.effect = like.effect);
    let mut entries = vec![lost.opened(note())];
    let gone =
        Transition::Errored { failure: Failure::OwnerLost, effect: like.effect, exhausted: false };
    for event in [
        Transition::Allowed,
        Transition::Claimed,
        gone,
        Transition::Claimed,
        gone,
        Transition::Claimed,
    ] {
        entries.push(lost.advance(event, note()).unwrap());
    }
    lost.lease = Some(now);
    let unit = Transaction {
        calls: vec![CallWrite { expects: None, record: lost, entries }],
        documents: vec![],
    };
    dead_letters.office.store.commit(unit, now).await.unwrap();
    let before = dead_letters.office.ran.times();
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(
        (dead_letters.office.state(id).await, dead_letters.office.ran.times()),
        (State::Dead, before)
    );
}

/// (c) There, each retry that failed added a row.
#[tokio::test]
async fn a_letter_that_dies_again_is_the_same_letter() {
    let dead_letters = dead_letters();
    let (id, answer) = dead_letters.die().await;
    for times in 2..5 {
        dead_letters.requeue(id, false).await;
        dead_letters.executor().worker().unwrap().sweep().await.unwrap();
        assert_eq!(dead_letters.office.ran.times(), times);
        let records = dead_letters.office.records().await;
        assert_eq!((records.len(), records[0].id, records[0].state), (1, id, State::Dead));
        assert_eq!(records[0].answer.as_ref().unwrap().text, answer);
        assert!(records[0].result.as_ref().unwrap().is_error);
    }
}

/// (d) There, that a letter could not be written was noticed by nobody.
#[tokio::test(start_paused = true)]
async fn a_letter_that_cannot_be_written_is_told_and_not_lost() {
    let dead_letters = dead_letters();
    let store =
        Odd { inner: dead_letters.office.store.clone(), fails_from: Some(2), ..Odd::default() };
    let executor = dead_letters.builder().journal(dead_letters.office.parking_in(store));
    let executor = executor.build().unwrap();
    let outcome = executor.submit(&a_dead_letter()).await;
    let Outcome::Failed(CallFailure::ResultNotRecorded { call, .. }) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(dead_letters.office.state(call).await, State::Running);
    dead_letters.office.clock.pass(Duration::from_secs(31));
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    assert_eq!(dead_letters.office.state(call).await, State::Dead);
    let path = path(&dead_letters.office.history(call).await);
    assert_eq!(path, "judging → ready → running → ready → running → dead");
}

/// (e) There, side effects were repeated hours later, with nobody looking.
#[tokio::test(start_paused = true)]
async fn no_sweep_no_worker_and_no_restart_runs_a_letter() {
    let dead_letters = dead_letters();
    let (id, answer) = dead_letters.die().await;
    let record = dead_letters.office.record(id).await;
    for _ in 0..3 {
        dead_letters.office.clock.pass(DAY);
        // A new executor each time, as after a restart.
        let executor = dead_letters.executor();
        executor.worker().unwrap().sweep().await.unwrap();
        let _ = tokio::time::timeout(DAY, executor.worker().unwrap().work()).await;
        assert_eq!(told(executor.worker().unwrap().resume(id).await), answer);
        assert_eq!(told(executor.worker().unwrap().wait(id).await), answer);
        assert_eq!(dead_letters.turn().await, answer);
        assert_eq!(
            (dead_letters.office.record(id).await, dead_letters.office.ran.times()),
            (record.clone(), 1)
        );
    }
}

/// In its second edition, the oldest letters were dropped beyond two hundred.
#[tokio::test]
async fn no_letter_is_dropped_for_the_number_of_others() {
    let dead_letters = dead_letters();
    let executor = dead_letters.executor();
    for _ in 0..250 {
        executor.submit(&a_dead_letter()).await;
    }
    let filter = Filter { states: vec![State::Dead], ..Filter::default() };
    let dead = dead_letters.office.store.list(&filter, Page::first(1000)).await;
    assert_eq!(dead.unwrap().calls.len(), 250);
}
