//! What a caller can do about a store that failed: the kind of each failure, and what caused it.

use std::error::Error;
use std::fs;

use rusqlite::Connection;
use toolwright::journal::{
    CommitError, Page, SqliteStore, State, Store, StoreError, StoreErrorKind, Transaction,
};

use super::support::{Folder, call, note, now, write};

fn failure(result: Result<(), CommitError>) -> StoreError {
    match result {
        Err(CommitError::Store(error)) => error,
        other => panic!("the store does not fail: {other:?}"),
    }
}

/// Its kind; every failure of SQLite itself has a cause.
fn caused(error: &StoreError) -> StoreErrorKind {
    assert!(error.source().is_some(), "{error:?} has no cause");
    assert!(error.clone().source().is_some(), "a copy loses its cause");
    error.kind()
}

#[tokio::test]
async fn a_locked_file_is_unavailable() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    store.pragma("busy_timeout", 20).await.unwrap();
    let other = Connection::open(folder.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = failure(note(&store, "a", "").await);
    assert_eq!(caused(&error), StoreErrorKind::Unavailable);
    let error = CommitError::from(error);
    assert!(error.is_unavailable() && !error.is_conflict(), "{error:?}");
}

#[tokio::test]
async fn a_disk_without_room_is_full() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    store.pragma("max_page_count", 40).await.unwrap();
    let error = failure(note(&store, "large", &"x".repeat(1_000_000)).await);
    assert_eq!(caused(&error), StoreErrorKind::Full);
}

#[tokio::test]
async fn a_file_that_must_not_be_written_is_invalid() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    store.pragma("query_only", 1).await.unwrap();
    assert_eq!(caused(&failure(note(&store, "a", "").await)), StoreErrorKind::Invalid);
    let missing = SqliteStore::open_existing(folder.path().join("missing.db")).await;
    assert_eq!(missing.unwrap_err().kind(), StoreErrorKind::Invalid);
}

#[tokio::test]
async fn a_journal_of_a_later_release_is_newer() {
    let folder = Folder::new();
    drop(SqliteStore::open(folder.file()).await.unwrap());
    let connection = Connection::open(folder.file()).unwrap();
    connection.pragma_update(None, "user_version", 999).unwrap();
    drop(connection);
    let error = SqliteStore::open(folder.file()).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Newer);
}

#[tokio::test]
async fn a_damaged_file_or_row_is_corrupt() {
    let folder = Folder::new();
    fs::write(folder.file(), "a diary, not a journal\n".repeat(200)).unwrap();
    let error = SqliteStore::open(folder.file()).await.unwrap_err();
    assert_eq!(caused(&error), StoreErrorKind::Corrupt);

    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    let unit = Transaction { calls: vec![call(1, State::Ready)], ..Transaction::default() };
    store.commit(unit, now()).await.unwrap();
    let connection = Connection::open(folder.file()).unwrap();
    connection.execute("UPDATE calls SET body = '{'", []).unwrap();
    let listed = store.list(&Default::default(), Page::first(1)).await.unwrap();
    assert_eq!(listed.damaged[0].error.kind(), StoreErrorKind::Corrupt);
}

#[tokio::test]
async fn a_conflict_says_what_was_found_and_is_no_failure_of_the_store() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    note(&store, "a", "").await.unwrap();
    let documents = vec![write("a", Some(7), "b")];
    let unit = Transaction { documents, ..Transaction::default() };
    let error = store.commit(unit, now()).await.unwrap_err();
    assert!(error.is_conflict() && !error.is_unavailable(), "{error:?}");
    assert!(
        matches!(error, CommitError::Document { expected: Some(7), found: Some(1), .. }),
        "{error:?}"
    );
}
