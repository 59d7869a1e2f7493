//! The trait of stores, and the requests that a store answers.

use std::collections::HashSet;
use std::path::Path;

use futures::future::BoxFuture;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::error::{CommitError, StoreError};
use super::identity::journal_id;
use super::listed::CallPage;
use super::next::{Failure, Transition};
use super::record::{CallRecord, CallSlot};
use super::state::State;
use toolwright_core::context::CallId;

/// A store holds calls, their histories, and documents by key. Many tasks share one store. Many processes can share a
/// store that is a file or a server.
///
/// A store makes no decisions. It compares versions, and commits a [`Transaction`] completely or not at all. Every
/// store has to pass the tests of `toolwright::journal::conformance` (feature `conformance`).
pub trait Store: Send + Sync + 'static {
    /// Commits the transaction durably: completely or not at all. A commit can succeed although its caller gets no
    /// reply.
    ///
    /// While the lease of a running call is valid (it ends after `now`), a write that [takes the call from its
    /// owner](CallWrite::takes_from_owner) is refused: the owner may have renewed the lease since the writer read the
    /// record.
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>>;

    /// Sets a new end for the lease of a running call, if the call was last claimed with this epoch. The record's
    /// version and its history do not change.
    fn renew<'a>(
        &'a self,
        call: CallId,
        epoch: u64,
        until: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>>;

    /// Records that the run of a call has received its answer. The record stays [`delivered`](CallRecord::delivered)
    /// from then on, even if another writer, which has read the record before, commits it later. The record's version,
    /// lease and history do not change, so that an executor that is running the call keeps it.
    fn acknowledge<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<(), CommitError>>;

    /// Returns the call with this id. If the record cannot be read, the error names the call, see
    /// [`StoreError::damaged`].
    fn get<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<Option<CallRecord>, StoreError>>;

    /// Returns the call in a slot of a turn.
    fn at<'a>(
        &'a self,
        place: &'a CallSlot,
    ) -> BoxFuture<'a, Result<Option<CallRecord>, StoreError>>;

    /// Lists one page of calls in the order of their ids, which begin with the time at which the call was made, or in
    /// the reverse order. A call that cannot be read is reported in the page, and the other calls are listed
    /// nevertheless.
    fn list<'a>(
        &'a self,
        filter: &'a Filter,
        page: Page,
    ) -> BoxFuture<'a, Result<CallPage<CallRecord>, StoreError>>;

    /// Lists the same page as [`list`](Self::list), but only a summary of each call: its id, version and state, and
    /// when it is due. A store need not read the records for it, so that an executor can search for due calls every
    /// second. A call whose record cannot be read may have a summary.
    fn summaries<'a>(
        &'a self,
        filter: &'a Filter,
        page: Page,
    ) -> BoxFuture<'a, Result<CallPage<CallSummary>, StoreError>>;

    /// Returns the history of a call, in order.
    fn history<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>>;

    /// Returns the document with this key.
    fn document<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Document>, StoreError>>;

    /// Returns the documents whose keys begin with a prefix, in the order of their keys.
    fn documents<'a>(&'a self, prefix: &'a str)
    -> BoxFuture<'a, Result<Vec<Document>, StoreError>>;

    /// Returns the id of the journal, which never changes. A journal without an id gets a random one. A signed
    /// statement names the id of its journal, and is valid in no other journal.
    fn id<'a>(&'a self) -> BoxFuture<'a, Result<String, StoreError>> {
        Box::pin(journal_id(self))
    }

    /// Completes when something in the store may have changed since the method was called, perhaps by another process.
    /// It is only a hint: correctness must not depend on it.
    fn changed(&self) -> BoxFuture<'_, ()>;

    /// Returns the absolute path by which the store's file was opened; `None` if the store is not a file. Links in the
    /// path are not resolved. An executor refuses a journal in a workspace, and also one whose path leads through a
    /// workspace.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// Reports whether commits outlive the process, as they do by default. With a durable store, an executor accepts an
    /// approver without a stored key only if the builder allows it. The reason is that the approver's decisions would
    /// outlive the process, but no other process would accept them.
    fn is_durable(&self) -> bool {
        true
    }
}

/// Changes that are committed together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Transaction {
    /// The calls to write.
    pub calls: Vec<CallWrite>,
    /// The documents to write.
    pub documents: Vec<DocumentWrite>,
}

impl Transaction {
    /// Checks the transaction by itself, without the content of the store. Every store calls this before it commits. An
    /// invalid transaction is a mistake of the caller, and not a conflict that a retry would solve.
    ///
    /// # Errors
    /// When the transaction writes a call or a document twice, or does not raise the version of a call. Also when an
    /// entry belongs to another call, or its number is not above the previous version and at most the new one.
    pub fn check(&self) -> Result<(), StoreError> {
        let mut calls = HashSet::new();
        for write in &self.calls {
            if self.calls.len() > 1 && !calls.insert(write.record.id) {
                let call = write.record.id;
                return Err(StoreError::invalid(format!(
                    "call {call} is written twice in one unit"
                )));
            }
            write.check()?;
        }
        let mut keys = HashSet::new();
        for write in &self.documents {
            if self.documents.len() > 1 && !keys.insert(&write.key) {
                let key = &write.key;
                return Err(StoreError::invalid(format!(
                    "document `{key}` is written twice in one unit"
                )));
            }
        }
        Ok(())
    }
}

/// A write of one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallWrite {
    /// The version in the store; `None` for a new call, whose id and slot must be free.
    pub expects: Option<u64>,
    /// The whole record. Its version must be higher than the expected one, and its slot never changes.
    pub record: CallRecord,
    /// The entries to add to the call's history.
    pub entries: Vec<Entry>,
}

impl CallWrite {
    /// Reports whether the write records that the executor of the call was lost. The store refuses such a write while
    /// the lease in the store is valid.
    #[must_use]
    pub fn takes_from_owner(&self) -> bool {
        let is_lost =
            |event| matches!(event, Transition::Errored { failure: Failure::OwnerLost, .. });
        self.entries.iter().any(|entry| entry.event.is_some_and(is_lost))
    }

    fn check(&self) -> Result<(), StoreError> {
        let (call, version) = (self.record.id, self.record.version);
        let mut last = self.expects.unwrap_or(0);
        if version <= last {
            let message = format!(
                "call {call} is written with version {version}, which must be higher than {last}"
            );
            return Err(StoreError::invalid(message));
        }
        for entry in &self.entries {
            if entry.call != call {
                let other = entry.call;
                let message = format!("an entry of call {other} is added to call {call}");
                return Err(StoreError::invalid(message));
            }
            if entry.number <= last || entry.number > version {
                let number = entry.number;
                let message = format!(
                    "entry {number} is added to call {call}, whose next entry has a number above {last} and not above {version}"
                );
                return Err(StoreError::invalid(message));
            }
            last = entry.number;
        }
        Ok(())
    }
}

/// A write of one document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentWrite {
    /// The key of the document.
    pub key: String,
    /// The version in the store; `None` if the store must have no such document. A write without `expects` and without
    /// `text` changes nothing: it only lets the commit fail if the document exists.
    pub expects: Option<u64>,
    /// The text of the document; `None` to remove the document.
    pub text: Option<String>,
}

impl DocumentWrite {
    /// Returns the version that the document gets: 1 when the write creates the document, and one more with every
    /// change.
    ///
    /// # Errors
    /// When the expected version is the maximum of its type.
    pub fn next_version(&self) -> Result<u64, StoreError> {
        match self.expects {
            None => Ok(1),
            Some(version) => version.checked_add(1).ok_or_else(|| {
                StoreError::corrupt(format!(
                    "document `{}` has version {version}, the highest number there is, so that it cannot be changed. \
                     No journal gets there by itself: restore the document from a backup",
                    self.key
                ))
            }),
        }
    }
}

/// A text with a key and a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The key of the document.
    pub key: String,
    /// The version of the document: 1 when the document is created, and one more with every change.
    pub version: u64,
    /// The text of the document.
    pub text: String,
}

/// The conditions on the calls to list. A field without a value sets no condition.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Lists only calls in one of these states; an empty list means all states.
    pub states: Vec<State>,
    /// Lists only calls of this run.
    pub run: Option<String>,
    /// Lists only calls of this tool.
    pub tool: Option<String>,
    /// Lists only calls with this digest.
    pub digest: Option<String>,
    /// Lists only calls whose shown arguments or answer contain this text.
    pub text: Option<String>,
    /// Lists only calls that are due at this time or before, see [`CallRecord::due`].
    pub due: Option<Timestamp>,
    /// Lists only calls that were recorded at this time or before.
    pub created_before: Option<Timestamp>,
    /// `true` lists only calls whose run has received the answer; `false`, only the other calls.
    pub delivered: Option<bool>,
}

impl Filter {
    /// Reports whether a call matches the filter.
    #[must_use]
    pub fn takes(&self, call: &CallRecord) -> bool {
        let Self { states, run, tool, digest, text, due, created_before, delivered } = self;
        let answer = || call.answer.as_ref().map(|answer| answer.text.as_str());
        let holds = |text: &str| {
            call.shown.contains(text) || answer().is_some_and(|answer| answer.contains(text))
        };
        (states.is_empty() || states.contains(&call.state))
            && run.as_ref().is_none_or(|run| *run == call.place.run)
            && tool.as_ref().is_none_or(|tool| *tool == call.tool)
            && digest.as_ref().is_none_or(|digest| *digest == call.digest)
            && delivered.is_none_or(|delivered| delivered == call.delivered)
            && created_before.is_none_or(|time| call.created <= time)
            && due.is_none_or(|time| call.due().is_some_and(|due| due <= time))
            && text.as_ref().is_none_or(|text| holds(text))
    }
}

/// A summary of a call, without the call's record.
///
/// ```
/// use toolwright::journal::{CallRecord, CallSlot, CallSummary, State};
/// use toolwright::CallId;
///
/// let slot = CallSlot { run: "run".to_owned(), turn: None, index: 0 };
/// let record = CallRecord::draft(CallId::new(), slot, "transfer", jiff::Timestamp::UNIX_EPOCH);
/// let summary = CallSummary::of(&record);
/// assert_eq!((summary.id, summary.version, summary.state), (record.id, 1, State::Judging));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallSummary {
    /// The id of the call.
    pub id: CallId,
    /// The version of the call's record.
    pub version: u64,
    /// The state of the call.
    pub state: State,
    /// When the call is due, see [`CallRecord::due`]. A store may return a time on 2262-04-11 for every later time.
    pub due: Option<Timestamp>,
}

impl CallSummary {
    /// Summarises a call.
    #[must_use]
    pub fn of(record: &CallRecord) -> Self {
        let due = record.due();
        Self { id: record.id, version: record.version, state: record.state, due }
    }
}

/// The part of a list to return.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// Lists only calls that come after this call in the order of the page.
    pub after: Option<CallId>,
    /// The maximum number of calls in the page.
    pub limit: usize,
    /// Whether the latest calls come first.
    pub latest_first: bool,
}

impl Page {
    /// Requests the first page of a list.
    #[must_use]
    pub fn first(limit: usize) -> Self {
        Self { after: None, limit, latest_first: false }
    }

    /// Requests the page after this call.
    #[must_use]
    pub fn after(self, call: CallId) -> Self {
        Self { after: Some(call), ..self }
    }
}
