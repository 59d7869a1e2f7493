//! What an approver sees of a call.

use jiff::Timestamp;

use super::layout;
use crate::journal::{CallRecord, Requester};
use toolwright_core::context::CallId;
use toolwright_core::repairs::Change;
use toolwright_core::tool::Danger;

/// A call on which a person has to decide. Secrets in it are masked.
///
/// Its [`Display`](std::fmt::Display) is a table for people. Whatever a model, a tool or a file put into the call,
/// the table's rows are ours: control characters, escape sequences and marks that turn or hide text are written out,
/// and long lines are broken here rather than by the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// The call.
    pub call: CallId,
    /// As it was judged this time.
    pub generation: u32,
    /// What a decision is bound to.
    pub digest: String,
    /// The tool's name.
    pub tool: String,
    /// The tool's name for people, where it has one.
    pub title: Option<String>,
    /// How carefully to look.
    pub danger: Danger,
    /// Why it is asked.
    pub reason: String,
    /// The arguments that would run, as JSON text with secrets masked.
    pub arguments: String,
    /// What repair changed in what the model sent.
    pub repairs: Vec<Change>,
    /// What the tool itself shows of the call.
    pub preview: Option<String>,
    /// On whose behalf.
    pub requester: Requester,
    /// The call's run.
    pub run: String,
    /// The project of the executor that asks, where it has one.
    pub project: Option<String>,
    /// Until when.
    pub deadline: Timestamp,
    /// The tool's definition, hexadecimal.
    pub fingerprint: String,
    /// Whether a person has to decide, whatever a reviewer says: a rule asks about each call
    /// ([`Rule::always_ask`](https://docs.rs/toolwright)).
    pub person: bool,
}

impl ApprovalRequest {
    /// Returns what is asked about a call; `None` where nothing ever was. The title is the tool's, which a record does not
    /// have.
    #[must_use]
    pub fn of(call: &CallRecord) -> Option<Self> {
        let ask = call.ask.as_ref()?;
        Some(Self {
            call: call.id,
            generation: call.generation,
            digest: call.digest.clone(),
            tool: call.tool.clone(),
            title: None,
            danger: call.danger,
            reason: ask.reason.clone(),
            arguments: call.shown.clone(),
            repairs: call.repairs.clone(),
            preview: ask.preview.clone(),
            requester: call.requester.clone(),
            run: call.place.run.clone(),
            project: call.project.clone(),
            deadline: ask.deadline,
            fingerprint: call.fingerprint.clone(),
            person: !ask.reviewable,
        })
    }
}

impl std::fmt::Display for ApprovalRequest {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        layout::request(self, formatter)
    }
}
