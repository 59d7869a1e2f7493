//! Every rule, for every store.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU32, Ordering};

use toolwright::journal::{MemoryStore, SqliteStore, Store as _, conformance};

use super::support::Folder;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_keeps_every_rule() {
    conformance::run(async || MemoryStore::new()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_with_a_bound_keeps_every_rule() {
    let bound = const { NonZeroUsize::new(10_000).unwrap() };
    conformance::run(async || MemoryStore::bounded(bound)).await;
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
    conformance::run(async || {
        let number = counter.fetch_add(1, Ordering::SeqCst);
        SqliteStore::open(folder.path().join(format!("{number}.db"))).await.unwrap()
    })
    .await;
}
