//! Every rule, for every store.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use rusqlite::{Connection, params};
use toolwright::CallId;
use toolwright::journal::{MemoryStore, SqliteStore, Store as _, conformance};

use super::support::Folder;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_keeps_every_rule() {
    conformance::run(async || MemoryStore::new(), damage_in_memory).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_with_a_bound_keeps_every_rule() {
    let bound = const { NonZeroUsize::new(10_000).unwrap() };
    conformance::run(async || MemoryStore::bounded(bound), damage_in_memory).await;
}

#[tokio::test]
async fn a_store_says_whether_it_outlives_the_process() {
    let folder = Folder::new();
    assert!(SqliteStore::open(folder.file()).await.unwrap().is_durable());
    assert!(!MemoryStore::new().is_durable());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sqlite_keeps_every_rule() {
    let folder = Folder::new();
    let counter = AtomicU32::new(0);
    let open = async || {
        let number = counter.fetch_add(1, Ordering::SeqCst);
        SqliteStore::open(folder.path().join(format!("{number}.db"))).await.unwrap()
    };
    conformance::run(open, |store, call| damage_file(store, call, "{\"id\":")).await;
}

/// A newer release shares the file: its rows are of a form that this one does not know.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sqlite_keeps_every_rule_beside_rows_of_a_newer_release() {
    let folder = Folder::new();
    let counter = AtomicU32::new(0);
    let open = async || {
        let number = counter.fetch_add(1, Ordering::SeqCst);
        SqliteStore::open(folder.path().join(format!("{number}.db"))).await.unwrap()
    };
    conformance::run(open, |store, call| damage_file(store, call, r#"{"of":"tomorrow"}"#)).await;
}

fn damage_in_memory(store: &MemoryStore, call: CallId) -> BoxFuture<'_, ()> {
    async move { store.damage(call) }.boxed()
}

fn damage_file<'a>(store: &'a SqliteStore, call: CallId, body: &'a str) -> BoxFuture<'a, ()> {
    async move {
        let file = Connection::open(store.file().unwrap()).unwrap();
        file.busy_timeout(Duration::from_secs(5)).unwrap();
        let sql = "UPDATE calls SET body = ?2 WHERE id = ?1";
        assert_eq!(file.execute(sql, params![call.as_bytes(), body]).unwrap(), 1);
    }
    .boxed()
}
