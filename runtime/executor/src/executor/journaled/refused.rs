//! What is said of a call that is not recorded or not run because nobody can be asked about it, or nobody would bring
//! what it needs.

use super::super::evaluate::Refusal;
use super::super::outcome::CallFailure;
use super::tool_and_run::NEEDS_ITS_CALLER;
use toolwright_core::error::{Class, ToolError};
use toolwright_journal::journal::CallRecord;

/// Why nobody is asked.
pub(super) fn refused(record: &CallRecord, reason: &str, refusal: Refusal) -> ToolError {
    let tool = &record.tool;
    let not_started = Class::NotStarted { retry_after: None };
    match refusal {
        Refusal::DeniedBefore => ToolError::new(
            "rejected",
            format!("a person has said no to the same call of `{tool}` in this run"),
        )
        .hint("do not ask for it again"),
        Refusal::SecretCannotWait => ToolError::new(
            "approval_required",
            format!(
                "`{tool}` needs a person's approval ({reason}), and a call with a secret cannot wait here"
            ),
        )
        .class(not_started)
        .hint("go on without this call, or tell the user that it needs approval")
        .caused_by("there is no key to seal the secret with; give the executor one with `.sealing_key(…)`"),
        Refusal::NoApprover => ToolError::new(
            "approval_required",
            format!("`{tool}` needs a person's approval ({reason}), and nobody can be asked here"),
        )
        .class(not_started)
        .hint("go on without this call, or tell the user that it needs approval"),
    }
}

pub(super) fn no_approver(record: &CallRecord, reason: &str) -> CallFailure {
    CallFailure::NoApprover { tool: record.tool.clone(), reason: reason.to_owned() }
}

/// Of a call that needs what its caller brings with it.
pub(super) fn cannot_be_planned(tool: &str) -> ToolError {
    let why = format!("`{tool}` cannot be put into the plan: it {NEEDS_ITS_CALLER}");
    ToolError::new("refused", why)
        .class(Class::NotStarted { retry_after: None })
        .hint("go on without this call, or say that it is needed")
}
