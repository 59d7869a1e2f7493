//! Every rule, for every store.

use std::sync::atomic::{AtomicU32, Ordering};

use toolwright::journal::{MemoryStore, SqliteStore, conformance};

use crate::support::Folder;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_keeps_every_rule() {
    conformance::run(async || MemoryStore::new()).await;
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
