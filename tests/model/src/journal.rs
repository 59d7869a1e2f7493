//! The durable state: a real [`MemoryStore`], forked for each commit, so that each branch of the exploration has its
//! own.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use toolwright_core::context::CallId;
use toolwright_journal::journal::{
    CallRecord, CommitError, Document, Entry, Filter, MemoryStore, Page, Store, Transaction,
};

use crate::digest;

/// No scenario has more.
const ALL: usize = 100;

/// A store, and everything read from it.
#[derive(Debug, Clone)]
pub struct Journal {
    store: MemoryStore,
    calls: Vec<(CallRecord, Vec<Entry>)>,
    documents: Vec<Document>,
}

impl Journal {
    /// Makes an empty journal.
    #[must_use]
    pub fn new() -> Self {
        Self { store: MemoryStore::new(), calls: Vec::new(), documents: Vec::new() }
    }

    /// Returns the calls, in the order of their ids.
    pub fn calls(&self) -> impl Iterator<Item = &CallRecord> {
        self.calls.iter().map(|(record, _)| record)
    }

    /// Returns the call of an id.
    #[must_use]
    pub fn get(&self, id: CallId) -> Option<&CallRecord> {
        self.calls().find(|record| record.id == id)
    }

    /// Returns the call in a slot of the turn.
    #[must_use]
    pub fn at(&self, place: u8) -> Option<&CallRecord> {
        self.calls().find(|record| record.place.index == u32::from(place))
    }

    /// Returns the history of a call.
    #[must_use]
    pub fn history(&self, id: CallId) -> &[Entry] {
        self.calls.iter().find(|(record, _)| record.id == id).map_or(&[], |(_, history)| history)
    }

    /// Returns the documents whose keys have a prefix.
    pub fn documents<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a Document> {
        self.documents.iter().filter(move |document| document.key.starts_with(prefix))
    }

    /// Returns the journal after a commit.
    ///
    /// # Errors
    /// Those of the store.
    pub fn commit(&self, unit: Transaction, now: Timestamp) -> Result<Self, CommitError> {
        let fork = self.store.fork();
        at_once(fork.commit(unit, now))?;
        Ok(Self::of(fork))
    }

    /// Returns the journal after a renewal.
    ///
    /// # Errors
    /// Those of the store.
    pub fn renew(&self, id: CallId, epoch: u64, until: Timestamp) -> Result<Self, CommitError> {
        let fork = self.store.fork();
        at_once(fork.renew(id, epoch, until))?;
        Ok(Self::of(fork))
    }

    /// Returns the journal after any other change, and the result of the change.
    pub fn after<T>(&self, change: impl FnOnce(Arc<dyn Store>) -> T) -> (Self, T) {
        let fork = self.store.fork();
        let result = change(Arc::new(fork.clone()));
        (Self::of(fork), result)
    }

    /// Returns the journal after an adversary has written to its file.
    #[must_use]
    pub fn rewritten(&self, record: CallRecord, entries: Vec<Entry>) -> Self {
        let fork = self.store.fork();
        fork.overwrite(record, entries);
        Self::of(fork)
    }

    fn of(store: MemoryStore) -> Self {
        let records =
            at_once(store.list(&Filter::default(), Page::first(ALL))).unwrap_or_default().calls;
        let with_history = |record: CallRecord| {
            let history = at_once(store.history(record.id)).unwrap_or_default();
            (record, history)
        };
        let calls = records.into_iter().map(with_history).collect();
        let documents = at_once(store.documents("")).unwrap_or_default();
        Self { store, calls, documents }
    }

    /// Hashes everything that a decision depends on. Whether times have passed is hashed by
    /// [`System`](crate::system::System).
    pub(crate) fn hash_into(&self, state: &mut impl Hasher) {
        for (record, history) in &self.calls {
            digest::record(record, state);
            for entry in history {
                (entry.number, entry.event, entry.generation).hash(state);
                (&entry.digest, entry.signed.as_ref().map(digest::signed)).hash(state);
            }
        }
        for document in &self.documents {
            (&document.key, document.version).hash(state);
            if document.key.starts_with("grant/") {
                document.text.hash(state);
            }
        }
    }
}

impl Default for Journal {
    fn default() -> Self {
        Self::new()
    }
}

/// Polls once: the in-memory store never waits.
pub(crate) fn at_once<T>(answer: BoxFuture<'_, T>) -> T {
    answer.now_or_never().expect("the in-memory store does not wait")
}
