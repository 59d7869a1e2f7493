//! A hint that something changed.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join;

use super::sample::*;
use toolwright_journal::journal::{Store, Transition};

/// After so long a hint counts as missed.
const PATIENCE: Duration = Duration::from_secs(60);

async fn heard(hint: impl Future<Output = ()>) {
    if tokio::time::timeout(PATIENCE, hint).await.is_err() {
        panic!("there was no hint of a commit");
    }
}

pub async fn whoever_waits_hears_of_a_commit(store: &Arc<impl Store>) {
    let mut record = call("run");
    let commit = async {
        tokio::task::yield_now().await;
        committed(store, calls([opening(&record)])).await;
    };
    join(join(heard(store.changed()), heard(store.changed())), commit).await;
    let commit = committed(store, calls([happening(&mut record, Transition::Asked)]));
    join(heard(store.changed()), commit).await;
    join(heard(store.changed()), committed(store, unit([], [document("a", None, "1")]))).await;
}

pub async fn a_commit_before_anybody_looks_is_heard(store: &Arc<impl Store>) {
    let hint = store.changed();
    added(store, call("run")).await;
    heard(hint).await;
}
