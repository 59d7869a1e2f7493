//! A store of which parts cannot be read for a while, whose lists of runs are long, and before whose reads something else
//! happens.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use toolwright::CallId;
use toolwright::journal::{
    CallPage, CallRecord, CallSlot, CallSummary, CommitError, Document, Entry, Filter, MemoryStore,
    Page, Store, StoreError, Transaction,
};

#[derive(Clone)]
pub struct Unreadable {
    inner: MemoryStore,
    is_away: Arc<AtomicBool>,
    /// The key of a document, how often it was read since, and at which of these reads it cannot be read.
    hidden: Arc<Mutex<(String, usize, Range<usize>)>>,
    reads: Arc<AtomicUsize>,
    /// How often the documents of each prefix were read.
    readings: Arc<Mutex<HashMap<String, usize>>>,
    /// How long the list of the runs that go on takes.
    list_takes: Duration,
    /// What happens before the turns of a run are read the next time.
    between: Arc<Mutex<Option<BoxFuture<'static, ()>>>>,
}

impl Unreadable {
    pub fn of(inner: MemoryStore) -> Self {
        let (is_away, hidden, reads, readings, between) = Default::default();
        Self { inner, is_away, hidden, reads, readings, list_takes: Duration::ZERO, between }
    }

    /// Lets the list of the runs that go on take so long as one of very many does.
    pub fn with_long_list(self, takes: Duration) -> Self {
        Self { list_takes: takes, ..self }
    }

    /// How many documents were read one by one.
    pub fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }

    /// How often the documents of a prefix were read.
    pub fn readings(&self, prefix: &str) -> usize {
        self.readings.lock().unwrap().get(prefix).copied().unwrap_or_default()
    }

    /// Lets this happen before the turns of a run are read the next time.
    pub fn before_turns(&self, work: impl Future<Output = ()> + Send + 'static) {
        *self.between.lock().unwrap() = Some(Box::pin(work));
    }

    /// Lets these of the next reads of a document fail, counted from 0.
    pub fn hide(&self, key: &str, reads: Range<usize>) {
        *self.hidden.lock().unwrap() = (key.to_owned(), 0, reads);
    }

    fn is_hidden(&self, key: &str) -> bool {
        let (hidden, seen, reads) = &mut *self.hidden.lock().unwrap();
        if *hidden != key {
            return false;
        }
        *seen += 1;
        reads.contains(&(*seen - 1))
    }

    /// Lets no list be read, or all of them again.
    pub fn hide_lists(&self, is_hidden: bool) {
        self.is_away.store(is_hidden, Ordering::SeqCst);
    }
}

impl Store for Unreadable {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        self.inner.commit(unit, now)
    }

    fn document<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Document>, StoreError>> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        let is_away = key.starts_with("runs/") && self.is_away.load(Ordering::SeqCst);
        if is_away || self.is_hidden(key) {
            return Box::pin(async { Err(StoreError::unavailable("the journal is away")) });
        }
        self.inner.document(key)
    }

    fn documents<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Document>, StoreError>> {
        Box::pin(async move {
            if prefix == "runs/open/" && !self.list_takes.is_zero() {
                tokio::time::sleep(self.list_takes).await;
            }
            *self.readings.lock().unwrap().entry(prefix.to_owned()).or_default() += 1;
            let between = match prefix.contains("/turn/") {
                true => self.between.lock().unwrap().take(),
                false => None,
            };
            if let Some(work) = between {
                work.await;
            }
            self.inner.documents(prefix).await
        })
    }

    fn get<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<Option<CallRecord>, StoreError>> {
        self.inner.get(call)
    }

    fn at<'a>(
        &'a self,
        place: &'a CallSlot,
    ) -> BoxFuture<'a, Result<Option<CallRecord>, StoreError>> {
        self.inner.at(place)
    }

    fn list<'a>(
        &'a self,
        filter: &'a Filter,
        page: Page,
    ) -> BoxFuture<'a, Result<CallPage<CallRecord>, StoreError>> {
        self.inner.list(filter, page)
    }

    fn summaries<'a>(
        &'a self,
        filter: &'a Filter,
        page: Page,
    ) -> BoxFuture<'a, Result<CallPage<CallSummary>, StoreError>> {
        self.inner.summaries(filter, page)
    }

    fn history<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        self.inner.history(call)
    }

    fn id<'a>(&'a self) -> BoxFuture<'a, Result<String, StoreError>> {
        self.inner.id()
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        self.inner.changed()
    }

    toolwright::pass_on_leases!(inner);
}
