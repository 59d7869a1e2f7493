//! Triggers act on whatever is written, so that a journal with others than its own is refused.

use rusqlite::Connection;
use toolwright::journal::{SqliteStore, State, Store, StoreErrorKind, Transaction};

use super::support::{Folder, call, document, note, now};

/// Changes what a person is shown, in the visit in which the call is recorded.
const FOREIGN: &str = "CREATE TRIGGER shadow AFTER INSERT ON calls BEGIN \
                       UPDATE calls SET body = replace(body, '{}', '[]') WHERE id = NEW.id; END;";

async fn refused(folder: &Folder) -> String {
    for opened in
        [SqliteStore::open(folder.file()).await, SqliteStore::open_existing(folder.file()).await]
    {
        assert_eq!(opened.unwrap_err().kind(), StoreErrorKind::Invalid);
    }
    SqliteStore::open(folder.file()).await.unwrap_err().to_string()
}

fn one_call(number: u64) -> Transaction {
    Transaction { calls: vec![call(number, State::Ready)], ..Transaction::default() }
}

#[tokio::test]
async fn a_journal_with_a_foreign_trigger_is_not_opened() {
    let folder = Folder::new();
    drop(SqliteStore::open(folder.file()).await.unwrap());
    let other = Connection::open(folder.file()).unwrap();
    other.execute_batch(FOREIGN).unwrap();
    let error = refused(&folder).await;
    assert!(error.contains("triggers that are not its own: \"shadow\" on \"calls\""), "{error}");
    other.execute_batch("DROP TRIGGER shadow").unwrap();
    SqliteStore::open(folder.file()).await.unwrap();
    // An index is no trigger, and whoever reads the file may want one.
    other.execute_batch("CREATE INDEX by_tool ON calls (tool)").unwrap();
    SqliteStore::open(folder.file()).await.unwrap();
}

#[tokio::test]
async fn a_journal_without_its_own_triggers_or_with_changed_ones_is_not_opened() {
    let folder = Folder::new();
    drop(SqliteStore::open(folder.file()).await.unwrap());
    let other = Connection::open(folder.file()).unwrap();
    other.execute_batch("DROP TRIGGER events_are_not_removed").unwrap();
    let error = refused(&folder).await;
    assert!(error.contains("lacks triggers of its own, \"events_are_not_removed\""), "{error}");
    let changed =
        "CREATE TRIGGER events_are_not_removed BEFORE DELETE ON events BEGIN SELECT 1; END";
    other.execute_batch(changed).unwrap();
    let error = refused(&folder).await;
    assert!(error.contains("\"events_are_not_removed\" on \"events\""), "{error}");
}

/// By the thread that writes, and where the caller writes by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_written_from_when_a_journal_gets_a_foreign_trigger_until_it_is_gone() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    let other = Connection::open(folder.file()).unwrap();
    for round in 0..20 {
        let number = round * 3;
        store.commit(one_call(number), now()).await.unwrap();
        other.execute_batch(FOREIGN).unwrap();
        let error = store.commit(one_call(number + 1), now()).await.unwrap_err();
        assert!(error.to_string().contains("triggers that are not its own"), "{error}");
        assert!(!error.is_conflict() && !error.is_unavailable(), "{error:?}");
        // What was written before can still be read.
        let written = call(number, State::Ready).record;
        assert_eq!(store.get(written.id).await.unwrap(), Some(written));
        assert_eq!(store.get(call(number + 1, State::Ready).record.id).await.unwrap(), None);
        other.execute_batch("DROP TRIGGER shadow").unwrap();
        store.commit(one_call(number + 2), now()).await.unwrap();
    }
    other.execute_batch("VACUUM").unwrap();
    note(&store, "a", "kept").await.unwrap();
    assert_eq!(document(&store, "a").await.as_deref(), Some("kept"));
}

#[tokio::test]
async fn of_many_that_are_written_together_none_is_where_there_is_a_foreign_trigger() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    Connection::open(folder.file()).unwrap().execute_batch(FOREIGN).unwrap();
    let commits = (0..40).map(|number| store.commit(one_call(number), now()));
    for commit in futures::future::join_all(commits).await {
        assert!(commit.unwrap_err().to_string().contains("triggers that are not its own"));
    }
    assert!(
        store
            .list(&Default::default(), toolwright::journal::Page::first(9))
            .await
            .unwrap()
            .is_empty()
    );
}
