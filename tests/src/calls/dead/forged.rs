//! Words that do not count: of strangers, about something else, unsigned, or about a call that was altered since.

use std::sync::atomic::Ordering::SeqCst;

use toolwright::approval::{Signed, Statement};
use toolwright::journal::{
    CallRecord, CallWrite, Entry, Note, State, Store, StoredText, Transaction, Transition,
};

use super::super::support::{key, path};
use super::office::{Letters, letters};

/// As somebody does who can write to the journal.
async fn writes(letters: &Letters, before: &CallRecord, record: CallRecord, entries: Vec<Entry>) {
    let calls = vec![CallWrite { expects: Some(before.version), record, entries }];
    let unit = Transaction { calls, documents: vec![] };
    letters.office.store.commit(unit, letters.office.clock.now()).await.unwrap();
}

fn note(letters: &Letters, signed: Option<Signed>) -> Note {
    Note { who: "ada".to_owned(), at: letters.office.clock.now(), why: None, signed }
}

/// Invariant 15.
#[tokio::test]
async fn a_requeue_by_a_key_that_is_not_enrolled_runs_nothing_and_changes_no_key() {
    let letters = letters();
    let (id, _) = letters.die().await;
    let record = letters.office.record(id).await;
    let now = letters.office.clock.now();
    let statement = Statement::requeue(&record, true, "mallory", now);
    let signed = key("mallory", 9).sign(&statement).unwrap();
    letters.office.desk().submit(signed, now).await.unwrap();
    letters.executor().sweep().await.unwrap();
    assert_eq!(letters.office.ran.times(), 1);
    let after = letters.office.record(id).await;
    assert_eq!((after.state, after.idempotency_key), (State::Dead, record.idempotency_key));
    let history = letters.office.history(id).await;
    let why = history.last().unwrap().why.clone().unwrap();
    assert!(why.contains("that it is requeued does not count") && why.contains("not enrolled"));
    // Ada is not kept from it.
    letters.broken.0.store(false, SeqCst);
    letters.requeue(id, false).await;
    letters.executor().sweep().await.unwrap();
    assert_eq!(letters.office.state(id).await, State::Succeeded);
}

#[tokio::test]
async fn a_requeue_in_the_name_of_another_does_not_count() {
    let letters = letters();
    let (id, _) = letters.die().await;
    let now = letters.office.clock.now();
    let statement = Statement::requeue(&letters.office.record(id).await, false, "ada", now);
    let signed = key("ada", 9).sign(&statement).unwrap();
    letters.office.desk().submit(signed, now).await.unwrap();
    letters.executor().sweep().await.unwrap();
    assert_eq!((letters.office.ran.times(), letters.office.state(id).await), (1, State::Dead));
}

/// Past the judging, straight to what is claimed.
#[tokio::test]
async fn a_letter_that_somebody_makes_ready_in_the_journal_is_not_claimed() {
    for is_signed in [false, true] {
        let letters = letters();
        let (id, _) = letters.die().await;
        let before = letters.office.record(id).await;
        let now = letters.office.clock.now();
        let statement = Statement::requeue(&before, false, "mallory", now);
        let signed = is_signed.then(|| key("mallory", 9).sign(&statement).unwrap());
        let mut record = before.clone();
        let entries = vec![
            record.advance(Transition::Requeued, note(&letters, signed)).unwrap(),
            record.advance(Transition::Allowed, note(&letters, None)).unwrap(),
        ];
        writes(&letters, &before, record, entries).await;
        letters.executor().sweep().await.unwrap();
        assert_eq!(letters.office.ran.times(), 1);
        let path = path(&letters.office.history(id).await);
        assert!(path.ends_with("dead → judging → ready → judging → dead"), "{path}");
    }
}

/// What Ada said of a letter that died since is said of that death alone.
#[tokio::test]
async fn a_requeue_counts_once() {
    let letters = letters();
    let (id, _) = letters.die().await;
    letters.requeue(id, false).await;
    letters.executor().sweep().await.unwrap();
    assert_eq!((letters.office.ran.times(), letters.office.state(id).await), (2, State::Dead));
    let history = letters.office.history(id).await;
    let said = history.iter().find(|entry| entry.event == Some(Transition::Requeued)).unwrap();
    let before = letters.office.record(id).await;
    let mut record = before.clone();
    let entry = record.advance(Transition::Requeued, note(&letters, said.signed.clone())).unwrap();
    writes(&letters, &before, record, vec![entry]).await;
    letters.executor().sweep().await.unwrap();
    assert_eq!((letters.office.ran.times(), letters.office.state(id).await), (2, State::Dead));
}

#[tokio::test]
async fn a_statement_that_says_something_else_is_no_requeue() {
    let letters = letters();
    let (id, _) = letters.die().await;
    let before = letters.office.record(id).await;
    let now = letters.office.clock.now();
    for statement in [
        Statement::discard(&before, None, "ada", now),
        Statement::did_not_happen(&before, "ada", now),
        Statement::accept(&before, "ada", now),
    ] {
        let before = letters.office.record(id).await;
        let mut record = before.clone();
        let signed = letters.office.ada.sign(&statement).unwrap();
        let entry = record.advance(Transition::Requeued, note(&letters, Some(signed))).unwrap();
        writes(&letters, &before, record, vec![entry]).await;
        letters.executor().sweep().await.unwrap();
        assert_eq!((letters.office.ran.times(), letters.office.state(id).await), (1, State::Dead));
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
        let letters = letters();
        let (id, _) = letters.die().await;
        letters.requeue(id, false).await;
        let before = letters.office.record(id).await;
        let mut record = before.clone();
        change(&mut record);
        record.version += 1;
        writes(&letters, &before, record, vec![]).await;
        letters.executor().sweep().await.unwrap();
        assert_eq!((letters.office.ran.times(), letters.office.state(id).await), (1, State::Dead));
    }
}

/// The new arguments stand in what was signed.
#[tokio::test]
async fn new_arguments_that_somebody_changes_after_a_requeue_are_not_run() {
    for proposal in [None, Some(r#"{"to":"mallory"}"#.to_owned())] {
        let letters = letters();
        let (id, _) = letters.die().await;
        letters.edit(id, r#"{"to":"bob"}"#).await;
        let before = letters.office.record(id).await;
        let record = before.clone().with(|it| {
            it.proposal = proposal;
            it.version = before.version + 1;
        });
        writes(&letters, &before, record, vec![]).await;
        letters.executor().sweep().await.unwrap();
        assert_eq!((letters.office.ran.times(), letters.office.state(id).await), (1, State::Dead));
    }
}
