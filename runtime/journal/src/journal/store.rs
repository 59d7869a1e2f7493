//! The trait of stores, which hold journals.

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

/// Stores calls, their histories, and documents by key. Many tasks share one store, and many processes where it is a
/// file or a server.
///
/// A store decides nothing: it compares versions, and commits all of a [`Transaction`] or nothing of it. Every store
/// passes the tests of `toolwright::journal::conformance` (feature `conformance`).
pub trait Store: Send + Sync + 'static {
    /// Commits all of the transaction, durably, or nothing of it. A commit can succeed although its caller gets no
    /// reply.
    ///
    /// A running call whose lease ends after `now` is not [taken from its owner](CallWrite::takes_from_owner): the
    /// lease may have been renewed since the writer read the record.
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>>;

    /// Extends the lease of a running call, for the owner that claimed it with this epoch alone. The record's
    /// version stays as it is, and its history too.
    fn renew<'a>(
        &'a self,
        call: CallId,
        epoch: u64,
        until: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>>;

    /// Notes that the run of a call has taken its answer: the record is [`delivered`](CallRecord::delivered) from then
    /// on, also when a commit of a writer that read it before says otherwise. Its version, its lease and its history
    /// stay as they are, so that the executor that runs the call meanwhile keeps it.
    fn acknowledge<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<(), CommitError>>;

    /// The call of an id. One that is there and cannot be read is an error that names it, see [`StoreError::damaged`].
    fn get<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<Option<CallRecord>, StoreError>>;

    /// The call of a place in a turn.
    fn at<'a>(
        &'a self,
        place: &'a CallSlot,
    ) -> BoxFuture<'a, Result<Option<CallRecord>, StoreError>>;

    /// Calls, in the order of their ids, which is that of their making; one page. A call that cannot be read is
    /// reported in the page, and hides no other: those that can be read go on.
    fn list<'a>(
        &'a self,
        filter: &'a Filter,
        page: Page,
    ) -> BoxFuture<'a, Result<CallPage<CallRecord>, StoreError>>;

    /// The calls that [`list`](Self::list) would give, each as an id, a version, a state and the time when it is due; one
    /// page, in the same order. No record is read for it, so that an executor that looks for due calls once a second may ask:
    /// a call whose record cannot be read may have a summary.
    fn summaries<'a>(
        &'a self,
        filter: &'a Filter,
        page: Page,
    ) -> BoxFuture<'a, Result<CallPage<CallSummary>, StoreError>>;

    /// What happened to a call, in order.
    fn history<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>>;

    /// The document of a key.
    fn document<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Document>, StoreError>>;

    /// The documents whose keys begin with a prefix, in the order of their keys.
    fn documents<'a>(&'a self, prefix: &'a str)
    -> BoxFuture<'a, Result<Vec<Document>, StoreError>>;

    /// The id of the journal, which stays. It is random, and made where the journal has none yet: what people sign names it,
    /// and counts in no other journal.
    fn id<'a>(&'a self) -> BoxFuture<'a, Result<String, StoreError>> {
        Box::pin(journal_id(self))
    }

    /// Completes when something may have changed since it was called, perhaps by another process. It is only a
    /// hint: correctness must not depend on it.
    fn changed(&self) -> BoxFuture<'_, ()>;

    /// The file it is kept in, if it is one, by the whole name that it was opened by: links in it are not followed,
    /// because an executor refuses a journal inside a workspace, and one whose name leads through a workspace too.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// Whether what is committed outlives the process, as it does unless the store says otherwise. Beside such a store,
    /// an executor accepts an approver without a key of their own only where the builder allows it: their decisions
    /// would stand in the journal and count nowhere else.
    fn is_durable(&self) -> bool {
        true
    }
}

/// Changes that belong together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Transaction {
    /// The calls to write.
    pub calls: Vec<CallWrite>,
    /// The documents to write.
    pub documents: Vec<DocumentWrite>,
}

impl Transaction {
    /// Checks that the unit makes sense by itself, whatever is in the store. A store asks before it commits, because
    /// such a unit is a mistake of its caller, not a conflict that a second look would solve.
    ///
    /// # Errors
    /// When it names a call or a document twice, does not raise a version, or adds an entry of another call or by a
    /// number that is no version it makes.
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
    /// The version that is there now; nothing for a new call, whose id and place in a turn must be free.
    pub expects: Option<u64>,
    /// All of it. Its version is higher than the one expected; its place never changes.
    pub record: CallRecord,
    /// What happened, to be added to its history. They are numbered by the versions of the record that they led
    /// to: in order, above the version expected and not above the record's own. So their numbers follow those that
    /// are there, and a change without an entry leaves one out.
    pub entries: Vec<Entry>,
}

impl CallWrite {
    /// Reports whether it says that the executor of the call is gone. A store that has a later lease of the call refuses that.
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
                    "entry {number} is added to call {call}, whose next is above {last} and not above {version}"
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
    /// Its key.
    pub key: String,
    /// The version that is there now; nothing where there must be none. To remove what must not be there changes
    /// nothing, but it is a condition of the unit.
    pub expects: Option<u64>,
    /// Its text; nothing to remove it.
    pub text: Option<String>,
}

impl DocumentWrite {
    /// Returns the version of the document once it is written: 1 where it is made, and one more with every change.
    ///
    /// # Errors
    /// When the version that is expected is the highest number there is.
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

/// A text by key. Its version is 1 when it is made, and one more with every change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its key.
    pub key: String,
    /// Counts its changes.
    pub version: u64,
    /// The text.
    pub text: String,
}

/// Which calls to list; a field that is not set does not filter.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// In one of these states; all where there are none.
    pub states: Vec<State>,
    /// Of this run.
    pub run: Option<String>,
    /// Of this tool.
    pub tool: Option<String>,
    /// With this digest.
    pub digest: Option<String>,
    /// With this text in the arguments as they are shown, or in the answer.
    pub text: Option<String>,
    /// Due at this time or before, see [`CallRecord::due`].
    pub due: Option<Timestamp>,
    /// Recorded at this time or before.
    pub created_before: Option<Timestamp>,
    /// Whether their run has taken note of the answer.
    pub delivered: Option<bool>,
}

impl Filter {
    /// Reports whether a call passes the filter.
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

/// What a list says of a call without its record.
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
    /// Its id.
    pub id: CallId,
    /// Its version.
    pub version: u64,
    /// Its state.
    pub state: State,
    /// When it is due, see [`CallRecord::due`]. A store may give the end of 2262-04-11 for what is due later.
    pub due: Option<Timestamp>,
}

impl CallSummary {
    /// Makes what a list says of a call.
    #[must_use]
    pub fn of(record: &CallRecord) -> Self {
        let due = record.due();
        Self { id: record.id, version: record.version, state: record.state, due }
    }
}

/// Which part of a list.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// Only what comes after this call.
    pub after: Option<CallId>,
    /// At most so many.
    pub limit: usize,
    /// The latest first.
    pub latest_first: bool,
}

impl Page {
    /// Asks for the first page.
    #[must_use]
    pub fn first(limit: usize) -> Self {
        Self { after: None, limit, latest_first: false }
    }

    /// Asks for the page after a call.
    #[must_use]
    pub fn after(self, call: CallId) -> Self {
        Self { after: Some(call), ..self }
    }
}
