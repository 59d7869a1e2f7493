//! The request to an approver, with the facts about the call that the approver sees.

use jiff::Timestamp;

use super::layout;
use crate::journal::{CallRecord, Requester};
use toolwright_core::context::CallId;
use toolwright_core::repairs::Change;
use toolwright_core::tool::Danger;

/// The facts of a call on which an approver has to decide. Secrets are masked.
///
/// Its [`Display`](std::fmt::Display) is a table for people. A model, a tool or a file cannot forge rows of this table:
/// control characters, escape sequences and characters that reverse or hide text are escaped, and long lines are broken
/// here rather than by the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// The id of the call.
    pub call: CallId,
    /// The generation of the call, which each evaluation raises.
    pub generation: u32,
    /// The digest that a decision is bound to.
    pub digest: String,
    /// The tool's name.
    pub tool: String,
    /// The tool's name for people, if the tool has one.
    pub title: Option<String>,
    /// The danger of the call, by which a person knows how carefully to look at it.
    pub danger: Danger,
    /// Why the call needs approval.
    pub reason: String,
    /// The final arguments of the call, as JSON text with secrets masked.
    pub arguments: String,
    /// The changes that repair made to the arguments of the model.
    pub repairs: Vec<Change>,
    /// The tool's own preview of the call.
    pub preview: Option<String>,
    /// Who made the call, and on behalf of which user.
    pub requester: Requester,
    /// The call's run.
    pub run: String,
    /// The project of the executor that asks, if the executor has a project.
    pub project: Option<String>,
    /// When the request expires.
    pub deadline: Timestamp,
    /// The fingerprint of the tool's definition, in hexadecimal.
    pub fingerprint: String,
    /// Whether a person must decide, so that the decision of a reviewer does not count. For example, a policy rule
    /// ([`Rule::always_ask`](https://docs.rs/toolwright)) requires a person for each call.
    pub person: bool,
}

impl ApprovalRequest {
    /// Makes the request for a recorded call. Returns `None` if the record has no question for a person. The title is
    /// `None`, because a record does not contain it.
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
