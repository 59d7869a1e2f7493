//! Rules about a store's notifications that something may have changed.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join;

use super::sample::*;
use toolwright_journal::journal::{Store, Transition};

/// How long a rule waits for a notification before it counts as missing.
const PATIENCE: Duration = Duration::from_secs(60);

async fn await_hint(hint: impl Future<Output = ()>) {
    if tokio::time::timeout(PATIENCE, hint).await.is_err() {
        panic!("there was no hint of a commit");
    }
}

pub async fn whoever_waits_hears_of_a_commit(store: &Arc<impl Store>) {
    let mut record = call("run");
    let first = async {
        tokio::task::yield_now().await;
        commit(store, calls([opening(&record)])).await;
    };
    join(join(await_hint(store.changed()), await_hint(store.changed())), first).await;
    let second = commit(store, calls([happening(&mut record, Transition::Asked)]));
    join(await_hint(store.changed()), second).await;
    join(await_hint(store.changed()), commit(store, unit([], [document("a", None, "1")]))).await;
}

pub async fn a_commit_before_anybody_looks_is_heard(store: &Arc<impl Store>) {
    let hint = store.changed();
    add(store, call("run")).await;
    await_hint(hint).await;
}
