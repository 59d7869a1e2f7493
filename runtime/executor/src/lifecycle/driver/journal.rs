//! The driver's read operations on the journal.

use futures::future::BoxFuture;

use super::{Lifecycle, not_recorded};
use crate::call::CallFailure;
use crate::lifecycle::ended_key;
use toolwright_core::context::CallId;
use toolwright_journal::journal::{
    CallPage, CallRecord, CallSlot, CallSummary, DamagedCall, Document, DocumentWrite, Entry,
    Filter, Page, ParentCall, StoreError, Transaction,
};

/// The number of records in one page of a listing.
const PAGE: usize = 100;

/// The number of calls in one page of a listing without records.
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

    /// Reads a call. A call that cannot be read is reported and returned as damaged, so that the caller can continue
    /// with others.
    pub(in super::super) async fn read_or_damaged(
        self,
        id: CallId,
    ) -> Result<Result<Option<CallRecord>, DamagedCall>, CallFailure> {
        match self.journal.store.get(id).await {
            Ok(found) => Ok(Ok(found)),
            Err(error) if error.is_of_a_row() => {
                let damaged = DamagedCall { id, error };
                self.report_damaged(std::slice::from_ref(&damaged));
                Ok(Err(damaged))
            }
            Err(error) => Err(CallFailure::NotRecorded { tool: id.to_string(), error }),
        }
    }

    /// Finds the call in a slot of a turn. An error of the store names `tool`.
    pub(crate) async fn at(
        self,
        place: &CallSlot,
        tool: &str,
    ) -> Result<Option<CallRecord>, CallFailure> {
        self.journal.store.at(place).await.map_err(|error| not_recorded(tool, error.into()))
    }

    /// Finds the call that the journal already contains in place of a new one: in the same slot of the turn, or at the
    /// same index of the same parent.
    pub(in super::super) async fn find_known(
        self,
        place: &CallSlot,
        tool: &str,
    ) -> Result<Option<CallRecord>, CallFailure> {
        match (self.parent, place.turn) {
            (Some(parent), _) => self.child_of(parent, tool).await,
            (None, Some(_)) => self.at(place, tool).await,
            (None, None) => Ok(None),
        }
    }

    async fn child_of(
        self,
        parent: ParentCall,
        tool: &str,
    ) -> Result<Option<CallRecord>, CallFailure> {
        let failed = |error| CallFailure::NotRecorded { tool: tool.to_owned(), error };
        let key = parent.key();
        let Some(document) = self.journal.store.document(&key).await.map_err(failed)? else {
            return Ok(None);
        };
        let id = document.text.parse().map_err(|error| {
            let words = format!("document `{key}` names no call: {error}; restore the journal");
            failed(StoreError::corrupt(words))
        })?;
        // The call may have run although its caller was dropped, and then it must not run again.
        self.load(id).await.map(Some)
    }

    /// Lists the children of a call. Children that cannot be read are left out.
    pub(in super::super) async fn children(
        self,
        parent: CallId,
    ) -> Result<Vec<CallRecord>, CallFailure> {
        let documents = self.documents(&ParentCall::keys(parent), &parent.to_string()).await?;
        let mut children = Vec::with_capacity(documents.len());
        for id in documents.iter().filter_map(|it| it.text.parse().ok()) {
            if let Ok(Some(child)) = self.read_or_damaged(id).await? {
                children.push(child);
            }
        }
        Ok(children)
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

    /// Records in the journal that a run has ended.
    pub(in super::super) async fn note_end_of(self, run: &str) -> Result<(), CallFailure> {
        let now = self.journal.now();
        let text = Some(now.to_string());
        let documents = vec![DocumentWrite { key: ended_key(run), expects: None, text }];
        match self.journal.store.commit(Transaction { calls: Vec::new(), documents }, now).await {
            Ok(()) => Ok(()),
            // The end was already recorded.
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

    /// Returns whether a filter matches any call. An unreadable call counts as a match, because the store found it by
    /// the filter.
    pub(in super::super) async fn has_any(
        self,
        filter: &Filter,
        of: &str,
    ) -> Result<bool, CallFailure> {
        let some = self.journal.store.list(filter, Page::first(1)).await;
        let some = some.map_err(|error| not_recorded(of, error.into()))?;
        self.report_damaged(&some.damaged);
        Ok(!some.is_empty())
    }

    /// Lists the calls that a filter matches, in the order in which they were made. Calls that cannot be read are
    /// reported and left out.
    pub(in super::super) async fn all(
        self,
        filter: &Filter,
    ) -> Result<CallPage<CallRecord>, CallFailure> {
        let mut all = CallPage::new();
        let mut page = Page::first(PAGE);
        loop {
            let some = self.journal.store.list(filter, page).await;
            let some = some.map_err(|error| not_recorded("the journal", error.into()))?;
            self.report_damaged(&some.damaged);
            all.calls.extend(some.calls);
            all.damaged.extend(some.damaged);
            match some.next {
                Some(last) => page = page.after(last),
                None => return Ok(all),
            }
        }
    }

    /// Lists the calls that a filter matches and that were made after the call `after`, without their records.
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
            self.report_damaged(&some.damaged);
            all.extend(some.calls);
            match some.next {
                Some(last) => page = page.after(last),
                None => return Ok(all),
            }
        }
    }

    /// Reports calls that cannot be read, each of them once in a while.
    fn report_damaged(self, damaged: &[DamagedCall]) {
        for DamagedCall { id, error } in damaged {
            if self.journal.busy.is_to_be_reported(*id) {
                tracing::warn!(call = %id, %error, "a call is left out");
            }
        }
    }

    /// Completes when a record may have changed since this method was called.
    pub(in super::super) fn changed(self) -> BoxFuture<'a, ()> {
        self.journal.store.changed()
    }
}

/// Makes the failure for an error of the journal that concerns no recorded call.
pub(super) fn store_failed(tool: &str, error: String) -> CallFailure {
    CallFailure::NotRecorded { tool: tool.to_owned(), error: StoreError::invalid(error) }
}
