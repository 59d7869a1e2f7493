//! Words that do not count: of strangers, about something else, unsigned, or about a call that was altered since.

use std::sync::atomic::Ordering::SeqCst;

use toolwright::approval::{SignedStatement, Statement};
use toolwright::journal::{
    CallRecord, CallWrite, Entry, Note, State, Store, StoredText, Transaction, Transition,
};

use super::super::support::{key, path};
use super::office::{DeadLetters, dead_letters};

/// As somebody does who can write to the journal.
async fn writes(
    dead_letters: &DeadLetters,
    before: &CallRecord,
    record: CallRecord,
    entries: Vec<Entry>,
) {
    let calls = vec![CallWrite { expects: Some(before.version), record, entries }];
    let unit = Transaction { calls, documents: vec![] };
    dead_letters.office.store.commit(unit, dead_letters.office.clock.now()).await.unwrap();
}

fn note(dead_letters: &DeadLetters, signed: Option<SignedStatement>) -> Note {
    Note { who: "ada".to_owned(), at: dead_letters.office.clock.now(), why: None, signed }
}

/// Invariant 15.
#[tokio::test]
async fn a_requeue_by_a_key_that_is_not_trusted_runs_nothing_and_changes_no_key() {
    let dead_letters = dead_letters();
    let (id, _) = dead_letters.die().await;
    let record = dead_letters.office.record(id).await;
    let now = dead_letters.office.clock.now();
    let statement = Statement::requeue(&record, true, "mallory", now);
    let signed = key("mallory", 9).sign(&statement).unwrap();
    dead_letters.office.service().submit(signed, now).await.unwrap();
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    assert_eq!(dead_letters.office.ran.times(), 1);
    let after = dead_letters.office.record(id).await;
    assert_eq!((after.state, after.idempotency_key), (State::Dead, record.idempotency_key));
    let history = dead_letters.office.history(id).await;
    let why = history.last().unwrap().why.clone().unwrap();
    assert!(why.contains("that it is requeued does not count") && why.contains("not trusted"));
    // Ada is not kept from it.
    dead_letters.broken.0.store(false, SeqCst);
    dead_letters.requeue(id, false).await;
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    assert_eq!(dead_letters.office.state(id).await, State::Succeeded);
}

#[tokio::test]
async fn a_requeue_in_the_name_of_another_does_not_count() {
    let dead_letters = dead_letters();
    let (id, _) = dead_letters.die().await;
    let now = dead_letters.office.clock.now();
    let statement = Statement::requeue(&dead_letters.office.record(id).await, false, "ada", now);
    let signed = key("ada", 9).sign(&statement).unwrap();
    dead_letters.office.service().submit(signed, now).await.unwrap();
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    assert_eq!(
        (dead_letters.office.ran.times(), dead_letters.office.state(id).await),
        (1, State::Dead)
    );
}

/// Past the judging, straight to what is claimed.
#[tokio::test]
async fn a_letter_that_somebody_makes_ready_in_the_journal_is_not_claimed() {
    for is_signed in [false, true] {
        let dead_letters = dead_letters();
        let (id, _) = dead_letters.die().await;
        let before = dead_letters.office.record(id).await;
        let now = dead_letters.office.clock.now();
        let statement = Statement::requeue(&before, false, "mallory", now);
        let signed = is_signed.then(|| key("mallory", 9).sign(&statement).unwrap());
        let mut record = before.clone();
        let entries = vec![
            record.advance(Transition::Requeued, note(&dead_letters, signed)).unwrap(),
            record.advance(Transition::Allowed, note(&dead_letters, None)).unwrap(),
        ];
        writes(&dead_letters, &before, record, entries).await;
        dead_letters.executor().worker().unwrap().sweep().await.unwrap();
        assert_eq!(dead_letters.office.ran.times(), 1);
        let path = path(&dead_letters.office.history(id).await);
        assert!(path.ends_with("dead → judging → ready → judging → dead"), "{path}");
    }
}

/// What Ada said of a letter that died since is said of that death alone.
#[tokio::test]
async fn a_requeue_counts_once() {
    let dead_letters = dead_letters();
    let (id, _) = dead_letters.die().await;
    dead_letters.requeue(id, false).await;
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    assert_eq!(
        (dead_letters.office.ran.times(), dead_letters.office.state(id).await),
        (2, State::Dead)
    );
    let history = dead_letters.office.history(id).await;
    let said = history.iter().find(|entry| entry.event == Some(Transition::Requeued)).unwrap();
    let before = dead_letters.office.record(id).await;
    let mut record = before.clone();
    let entry =
        record.advance(Transition::Requeued, note(&dead_letters, said.signed.clone())).unwrap();
    writes(&dead_letters, &before, record, vec![entry]).await;
    dead_letters.executor().worker().unwrap().sweep().await.unwrap();
    assert_eq!(
        (dead_letters.office.ran.times(), dead_letters.office.state(id).await),
        (2, State::Dead)
    );
}

#[tokio::test]
async fn a_statement_that_says_something_else_is_no_requeue() {
    let dead_letters = dead_letters();
    let (id, _) = dead_letters.die().await;
    let before = dead_letters.office.record(id).await;
    let now = dead_letters.office.clock.now();
    for statement in [
        Statement::discard(&before, None, "ada", now),
        Statement::did_not_happen(&before, "ada", now),
        Statement::accept(&before, "ada", now),
    ] {
        let before = dead_letters.office.record(id).await;
        let mut record = before.clone();
        let signed = dead_letters.office.ada.sign(&statement).unwrap();
        let entry =
            record.advance(Transition::Requeued, note(&dead_letters, Some(signed))).unwrap();
        writes(&dead_letters, &before, record, vec![entry]).await;
        dead_letters.executor().worker().unwrap().sweep().await.unwrap();
        assert_eq!(
            (dead_letters.office.ran.times(), dead_letters.office.state(id).await),
            (1, State::Dead)
        );
    }
}

/// Invariant 2: what was shown is what runs.
#[tokio::test]
async fn arguments_that_somebody_changes_after_a_requeue_are_not_run() {
    let changes: [fn(&mut CallRecord); 3] = [
        |record| record.arguments = StoredText::Plain(r#"{"to":"mallory","copies":1}"#.to_owned()),
        |record| record.proposal = Some(r#"{"to":"mallory"}"#.to_owned()),
        |record| record.digest = "0".repeat(64),
    ];
    for change in changes {
        let dead_letters = dead_letters();
        let (id, _) = dead_letters.die().await;
        dead_letters.requeue(id, false).await;
        let before = dead_letters.office.record(id).await;
        let mut record = before.clone();
        change(&mut record);
        record.version += 1;
        writes(&dead_letters, &before, record, vec![]).await;
        dead_letters.executor().worker().unwrap().sweep().await.unwrap();
        assert_eq!(
            (dead_letters.office.ran.times(), dead_letters.office.state(id).await),
            (1, State::Dead)
        );
    }
}

/// The new arguments stand in what was signed.
#[tokio::test]
async fn new_arguments_that_somebody_changes_after_a_requeue_are_not_run() {
    for proposal in [None, Some(r#"{"to":"mallory"}"#.to_owned())] {
        let dead_letters = dead_letters();
        let (id, _) = dead_letters.die().await;
        dead_letters.edit(id, r#"{"to":"bob"}"#).await;
        let before = dead_letters.office.record(id).await;
        let record = before.clone().with(|it| {
            it.proposal = proposal;
            it.version = before.version + 1;
        });
        writes(&dead_letters, &before, record, vec![]).await;
        dead_letters.executor().worker().unwrap().sweep().await.unwrap();
        assert_eq!(
            (dead_letters.office.ran.times(), dead_letters.office.state(id).await),
            (1, State::Dead)
        );
    }
}
