//! A store in memory, for tests and for applications whose calls need not survive the process.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use jiff::Timestamp;
use tokio::sync::watch;

use super::ended::EndedCalls;
use super::entry::Entry;
use super::error::{CommitError, StoreError};
use super::identity::new_id;
use super::listed::CallPage;
use super::parent::ParentCall;
use super::record::{CallRecord, CallSlot};
use super::state::State;
use super::store::{
    CallSummary, CallWrite, Document, DocumentWrite, Filter, Page, Store, Transaction,
};
use toolwright_core::context::CallId;

/// A store in the memory of the process. Clones share the same calls. [`new`](Self::new) makes a store that holds every
/// call, [`bounded`](Self::bounded) one that drops calls that ended long ago.
///
/// ```
/// use toolwright::journal::{DocumentWrite, MemoryStore, Store, Transaction};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let store = MemoryStore::new();
/// let note = DocumentWrite { key: "note".to_owned(), expects: None, text: Some("hello".to_owned()) };
/// let unit = Transaction { documents: vec![note], ..Transaction::default() };
/// store.commit(unit, jiff::Timestamp::UNIX_EPOCH).await?;
/// assert_eq!(store.document("note").await?.map(|it| it.version), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct MemoryStore(Arc<Inner>);

struct Inner {
    kept: Mutex<Tables>,
    changes: watch::Sender<()>,
}

#[derive(Clone, Default)]
struct Tables {
    calls: BTreeMap<CallId, CallRecord>,
    places: HashMap<CallSlot, CallId>,
    histories: HashMap<CallId, Vec<Entry>>,
    documents: BTreeMap<String, Document>,
    ended: EndedCalls,
    damaged: HashSet<CallId>,
    /// The id of the journal; `None` if the system provided no random bytes.
    id: Option<String>,
}

impl MemoryStore {
    /// Makes an empty store without a limit.
    #[must_use]
    pub fn new() -> Self {
        Self::of(Tables::default())
    }

    /// Makes an empty store that holds at most this many ended calls. When one more call ends, the store drops the call
    /// that ended first, with its history. It never drops a call that has not ended, nor the children of such a call.
    ///
    /// A dropped call is unknown to the store: its outcome cannot be read any more. If the run makes a call again at
    /// the same turn and index, this is a new call, which is evaluated again. Choose a number far above the number of
    /// calls whose outcome an application may still ask for.
    ///
    /// ```
    /// use std::num::NonZeroUsize;
    /// use toolwright::journal::{MemoryStore, Store};
    ///
    /// let store = MemoryStore::bounded(const { NonZeroUsize::new(10_000).unwrap() });
    /// assert!(!store.is_durable());
    /// ```
    #[must_use]
    pub fn bounded(ended: NonZeroUsize) -> Self {
        Self::of(Tables { ended: EndedCalls::at_most(ended), ..Tables::default() })
    }

    fn of(mut tables: Tables) -> Self {
        tables.id = tables.id.or_else(|| new_id().ok());
        Self(Arc::new(Inner { kept: Mutex::new(tables), changes: watch::Sender::new(()) }))
    }

    /// Copies the store with its present content. The copies are independent, so that a test can continue from one
    /// moment in several ways.
    #[doc(hidden)]
    #[must_use]
    pub fn fork(&self) -> Self {
        Self::of(self.lock().clone())
    }

    /// Makes a call unreadable until it is written again, for tests of how a damaged call affects other calls.
    #[doc(hidden)]
    pub fn damage(&self, call: CallId) {
        self.lock().damaged.insert(call);
    }

    /// Replaces a record and adds to its history without comparing versions, as someone who can write to the store's
    /// file could do.
    #[doc(hidden)]
    pub fn overwrite(&self, record: CallRecord, entries: Vec<Entry>) {
        let mut kept = self.lock();
        if let Some(before) = kept.calls.get(&record.id).map(|before| before.place.clone()) {
            kept.places.remove(&before);
        }
        if record.place.turn.is_some() {
            kept.places.insert(record.place.clone(), record.id);
        }
        kept.histories.entry(record.id).or_default().extend(entries);
        kept.calls.insert(record.id, record);
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn apply(&self, unit: Transaction, now: Timestamp) -> Result<(), CommitError> {
        unit.check()?;
        let mut kept = self.lock();
        unit.calls.iter().try_for_each(|write| kept.admits_call(write, now))?;
        kept.admits_places(&unit.calls)?;
        unit.documents.iter().try_for_each(|write| kept.admits_document(write))?;
        unit.calls.into_iter().for_each(|write| kept.put_call(write));
        unit.documents.into_iter().for_each(|write| kept.put_document(write));
        Ok(())
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl Store for MemoryStore {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        async move {
            self.apply(unit, now)?;
            self.0.changes.send_replace(());
            Ok(())
        }
        .boxed()
    }

    fn renew<'a>(
        &'a self,
        call: CallId,
        epoch: u64,
        until: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        async move {
            let mut kept = self.lock();
            let claimed = kept
                .calls
                .get_mut(&call)
                .filter(|record| record.state == State::Running && record.epoch == epoch);
            match claimed {
                Some(record) => record.lease = Some(until),
                None => return Err(CommitError::Fenced { call, epoch }),
            }
            drop(kept);
            self.0.changes.send_replace(());
            Ok(())
        }
        .boxed()
    }

    fn acknowledge<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<(), CommitError>> {
        async move {
            match self.lock().calls.get_mut(&call) {
                Some(record) => record.delivered = true,
                None => return Err(CommitError::NoCall { call }),
            }
            self.0.changes.send_replace(());
            Ok(())
        }
        .boxed()
    }

    fn get<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<Option<CallRecord>, StoreError>> {
        async move { self.lock().get(call) }.boxed()
    }

    fn at<'a>(
        &'a self,
        place: &'a CallSlot,
    ) -> BoxFuture<'a, Result<Option<CallRecord>, StoreError>> {
        async move {
            let kept = self.lock();
            kept.places.get(place).map_or(Ok(None), |call| kept.get(*call))
        }
        .boxed()
    }

    fn list<'a>(
        &'a self,
        filter: &'a Filter,
        page: Page,
    ) -> BoxFuture<'a, Result<CallPage<CallRecord>, StoreError>> {
        async move { Ok(self.lock().list_page(filter, page, Tables::read_call)) }.boxed()
    }

    fn summaries<'a>(
        &'a self,
        filter: &'a Filter,
        page: Page,
    ) -> BoxFuture<'a, Result<CallPage<CallSummary>, StoreError>> {
        async move { Ok(self.lock().list_page(filter, page, |_, call| Ok(CallSummary::of(call)))) }
            .boxed()
    }

    fn history<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        async move { Ok(self.lock().histories.get(&call).cloned().unwrap_or_default()) }.boxed()
    }

    fn document<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Document>, StoreError>> {
        async move { Ok(self.lock().documents.get(key).cloned()) }.boxed()
    }

    fn documents<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Document>, StoreError>> {
        async move {
            let kept = self.lock();
            let from = kept.documents.range::<str, _>((Bound::Included(prefix), Bound::Unbounded));
            let found = from.take_while(|(key, _)| key.starts_with(prefix));
            Ok(found.map(|(_, document)| document.clone()).collect())
        }
        .boxed()
    }

    fn id<'a>(&'a self) -> BoxFuture<'a, Result<String, StoreError>> {
        let id = self.lock().id.clone();
        ready(id.map_or_else(new_id, Ok)).boxed()
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        let mut changes = self.0.changes.subscribe();
        async move {
            // `self` owns the sender, so the channel cannot be closed here.
            let _ = changes.changed().await;
        }
        .boxed()
    }

    fn is_durable(&self) -> bool {
        false
    }
}

impl Tables {
    fn get(&self, call: CallId) -> Result<Option<CallRecord>, StoreError> {
        self.calls.get(&call).map(|call| self.read_call(call)).transpose()
    }

    fn read_call(&self, call: &CallRecord) -> Result<CallRecord, StoreError> {
        match self.damaged.contains(&call.id) {
            true => Err(StoreError::damaged(call.id, "a test damaged it")),
            false => Ok(call.clone()),
        }
    }

    fn list_page<T>(
        &self,
        filter: &Filter,
        page: Page,
        read: fn(&Self, &CallRecord) -> Result<T, StoreError>,
    ) -> CallPage<T> {
        let after = page.after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut listed = CallPage::new();
        let mut add = |call: &CallRecord| {
            listed.push(page.limit, call.id, read(self, call));
        };
        if page.latest_first {
            let calls = self.calls.range((Bound::Unbounded, after)).rev().map(|(_, call)| call);
            calls.filter(|call| filter.takes(call)).take(page.limit).for_each(&mut add);
        } else {
            let calls = self.calls.range((after, Bound::Unbounded)).map(|(_, call)| call);
            calls.filter(|call| filter.takes(call)).take(page.limit).for_each(&mut add);
        }
        listed
    }

    fn admits_call(&self, write: &CallWrite, now: Timestamp) -> Result<(), CommitError> {
        let (call, place) = (write.record.id, &write.record.place);
        let found = self.calls.get(&call);
        let version = found.map(|record| record.version);
        if version != write.expects {
            return Err(CommitError::Call { call, expected: write.expects, found: version });
        }
        let Some(record) = found else { return Ok(()) };
        if record.place != *place {
            return Err(StoreError::moved(call).into());
        }
        match record.lease.filter(|until| *until > now && write.takes_from_owner()) {
            Some(until) => Err(CommitError::Leased { call, until }),
            None => Ok(()),
        }
    }

    /// Checks that the slots of new calls are free.
    fn admits_places(&self, writes: &[CallWrite]) -> Result<(), CommitError> {
        let mut taken = HashMap::new();
        for write in writes.iter().filter(|write| write.expects.is_none()) {
            let (call, place) = (write.record.id, &write.record.place);
            if place.turn.is_none() {
                continue;
            }
            let before = taken.insert(place, call);
            if let Some(holder) = before.or_else(|| self.places.get(place).copied()) {
                return Err(CommitError::CallSlot { place: place.clone(), holder });
            }
        }
        Ok(())
    }

    fn admits_document(&self, write: &DocumentWrite) -> Result<(), CommitError> {
        let found = self.documents.get(&write.key).map(|document| document.version);
        if found == write.expects {
            return write.next_version().map(drop).map_err(Into::into);
        }
        let key = write.key.clone();
        Err(CommitError::Document { key, expected: write.expects, found })
    }

    fn put_call(&mut self, write: CallWrite) {
        let CallWrite { mut record, entries, .. } = write;
        let call = record.id;
        let before = self.calls.get(&call);
        record.delivered |= before.is_some_and(|before| before.delivered);
        let oldest = self.ended.note(call, before.map(|before| before.state), record.state);
        if record.place.turn.is_some() {
            self.places.insert(record.place.clone(), call);
        }
        self.calls.insert(call, record);
        self.damaged.remove(&call);
        self.histories.entry(call).or_default().extend(entries);
        match oldest {
            Some(oldest) if self.may_be_made_again(oldest) => self.ended.spare(oldest),
            Some(oldest) => self.drop_call(oldest),
            None => {}
        }
    }

    /// Returns whether the parent of a call has not ended. When the parent runs again, it makes the call again, and
    /// must then find its answer.
    fn may_be_made_again(&self, call: CallId) -> bool {
        let parent = self.calls.get(&call).and_then(|record| self.calls.get(&record.parent?.call));
        parent.is_some_and(|parent| !parent.state.is_answered())
    }

    fn drop_call(&mut self, call: CallId) {
        self.histories.remove(&call);
        self.damaged.remove(&call);
        if let Some(record) = self.calls.remove(&call) {
            self.places.remove(&record.place);
        }
        let keys = ParentCall::keys(call);
        let of_children = self.documents.range(keys.clone()..).map(|(key, _)| key);
        let of_children: Vec<String> =
            of_children.take_while(|key| key.starts_with(&keys)).cloned().collect();
        of_children.iter().for_each(|key| _ = self.documents.remove(key));
    }

    fn put_document(&mut self, write: DocumentWrite) {
        // `admits_document` has already refused a write whose version cannot be raised.
        let Ok(version) = write.next_version() else { return };
        let DocumentWrite { key, text, .. } = write;
        match text {
            Some(text) => {
                self.documents.insert(key.clone(), Document { key, version, text });
            }
            None => {
                self.documents.remove(&key);
            }
        }
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.lock();
        formatter
            .debug_struct("MemoryStore")
            .field("calls", &kept.calls.len())
            .field("documents", &kept.documents.len())
            .finish()
    }
}
