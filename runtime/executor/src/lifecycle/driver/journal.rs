//! What the driver reads from the journal.

use futures::future::BoxFuture;

use super::{Lifecycle, not_recorded};
use crate::executor::CallFailure;
use crate::lifecycle::decide::ended_key;
use toolwright_core::context::CallId;
use toolwright_journal::journal::{
    CallRecord, CallSlot, CallSummary, Document, DocumentWrite, Entry, Filter, Page, StoreError,
    Transaction,
};

/// How many calls one look takes from the journal.
const PAGE: usize = 100;

/// The same of calls without their records.
const SUMMARIES: usize = 1_000;

impl<'a> Lifecycle<'a> {
    pub(in super::super) async fn load(self, id: CallId) -> Result<CallRecord, CallFailure> {
        self.read_if_there(id).await?.ok_or(CallFailure::NoSuchCall(id))
    }

    pub(in super::super) async fn read_if_there(
        self,
        id: CallId,
    ) -> Result<Option<CallRecord>, CallFailure> {
        let found = self.journal.store.get(id).await;
        found.map_err(|error| CallFailure::NotRecorded { tool: id.to_string(), error })
    }

    /// The call at a place of a turn, which is one of this tool.
    pub(crate) async fn at(
        self,
        place: &CallSlot,
        tool: &str,
    ) -> Result<Option<CallRecord>, CallFailure> {
        self.journal.store.at(place).await.map_err(|error| not_recorded(tool, error.into()))
    }

    pub(in super::super) async fn history(
        self,
        record: &CallRecord,
    ) -> Result<Vec<Entry>, CallFailure> {
        let history = self.journal.store.history(record.id).await;
        history.map_err(|error| not_recorded(&record.tool, error.into()))
    }

    pub(super) async fn documents(
        self,
        prefix: &str,
        tool: &str,
    ) -> Result<Vec<Document>, CallFailure> {
        let documents = self.journal.store.documents(prefix).await;
        documents.map_err(|error| not_recorded(tool, error.into()))
    }

    pub(super) async fn run_has_ended(self, record: &CallRecord) -> Result<bool, CallFailure> {
        let ended = self.journal.store.document(&ended_key(&record.place.run)).await;
        ended.map(|it| it.is_some()).map_err(|error| not_recorded(&record.tool, error.into()))
    }

    /// Makes the end of a run durable.
    pub(in super::super) async fn note_end_of(self, run: &str) -> Result<(), CallFailure> {
        let now = self.journal.now();
        let text = Some(now.to_string());
        let documents = vec![DocumentWrite { key: ended_key(run), expects: None, text }];
        match self.journal.store.commit(Transaction { calls: Vec::new(), documents }, now).await {
            Ok(()) => Ok(()),
            // It was ended before.
            Err(error) if error.is_conflict() => Ok(()),
            Err(error) => Err(not_recorded(run, error)),
        }
    }

    pub(in super::super) async fn note_delivery_of(
        self,
        id: CallId,
        tool: &str,
    ) -> Result<(), CallFailure> {
        self.journal.store.acknowledge(id).await.map_err(|error| not_recorded(tool, error))
    }

    /// The first calls that a filter takes, in the order of their making.
    pub(in super::super) async fn first(
        self,
        filter: &Filter,
        limit: usize,
        of: &str,
    ) -> Result<Vec<CallRecord>, CallFailure> {
        let some = self.journal.store.list(filter, Page::first(limit)).await;
        some.map_err(|error| not_recorded(of, error.into()))
    }

    /// Every call that a filter takes, in the order of their making.
    pub(in super::super) async fn all(
        self,
        filter: &Filter,
    ) -> Result<Vec<CallRecord>, CallFailure> {
        let mut all = Vec::new();
        let mut page = Page::first(PAGE);
        loop {
            let some = self.journal.store.list(filter, page).await;
            let some = some.map_err(|error| not_recorded("the journal", error.into()))?;
            let last = some.last().map(|record| record.id);
            let is_full = some.len() == PAGE;
            all.extend(some);
            match last.filter(|_| is_full) {
                Some(last) => page = page.after(last),
                None => return Ok(all),
            }
        }
    }

    /// Every call that a filter takes and that was made after one, without the records.
    pub(in super::super) async fn summaries(
        self,
        filter: &Filter,
        after: Option<CallId>,
    ) -> Result<Vec<CallSummary>, CallFailure> {
        let mut all = Vec::new();
        let mut page = Page { after, ..Page::first(SUMMARIES) };
        loop {
            let some = self.journal.store.summaries(filter, page).await;
            let some = some.map_err(|error| not_recorded("the journal", error.into()))?;
            let last = some.last().map(|call| call.id);
            let is_full = some.len() == SUMMARIES;
            all.extend(some);
            match last.filter(|_| is_full) {
                Some(last) => page = page.after(last),
                None => return Ok(all),
            }
        }
    }

    /// Completes when something may have changed since it was called.
    pub(in super::super) fn changed(self) -> BoxFuture<'a, ()> {
        self.journal.store.changed()
    }
}

/// A failure of the journal in words, where there is no call yet.
pub(super) fn store_failed(tool: &str, error: String) -> CallFailure {
    CallFailure::NotRecorded { tool: tool.to_owned(), error: StoreError::invalid(error) }
}
