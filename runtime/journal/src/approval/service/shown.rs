//! Identifies the call that a decision is about, and what the person was shown of it.

use crate::approval::{ApprovalRequest, Subject};
use crate::arguments::shown_digest;
use crate::journal::CallRecord;
use toolwright_core::context::CallId;

/// The call that a decision is about.
///
/// Made from a [`CallRecord`] or an [`ApprovalRequest`], it names the call as it was shown: if the call has changed
/// since, the decision is refused. Made from a [`CallId`], it names the call as it is in the journal at the time of the
/// decision, for callers that show nothing.
///
/// ```
/// use toolwright::CallId;
/// use toolwright::approval::ShownCall;
/// use toolwright::journal::{CallRecord, CallSlot};
///
/// let slot = CallSlot { run: "ticket-7".to_owned(), turn: Some(1), index: 0 };
/// let record = CallRecord::draft(CallId::new(), slot, "send_mail", jiff::Timestamp::UNIX_EPOCH);
/// assert_ne!(ShownCall::from(&record), ShownCall::from(record.id));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownCall {
    pub(super) call: CallId,
    /// The generation, the digest and the digest of the shown arguments; `None` if nothing was shown.
    seen: Option<(u32, String, Option<String>)>,
}

impl ShownCall {
    /// Returns the subject of a statement about the call.
    pub(super) fn subject(self, record: &CallRecord) -> Subject {
        let (generation, digest, shown) = self.seen.unwrap_or_else(|| facts_of(record));
        Subject::Call { id: self.call, generation, digest, shown }
    }
}

impl From<CallId> for ShownCall {
    fn from(call: CallId) -> Self {
        Self { call, seen: None }
    }
}

impl From<&CallRecord> for ShownCall {
    fn from(record: &CallRecord) -> Self {
        Self { call: record.id, seen: Some(facts_of(record)) }
    }
}

impl From<&ApprovalRequest> for ShownCall {
    fn from(request: &ApprovalRequest) -> Self {
        let shown = shown_digest(&request.digest, &request.arguments);
        Self { call: request.call, seen: Some((request.generation, request.digest.clone(), shown)) }
    }
}

fn facts_of(record: &CallRecord) -> (u32, String, Option<String>) {
    (record.generation, record.digest.clone(), record.shown_digest())
}
