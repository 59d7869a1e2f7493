//! The texts about calls that are refused, or that end without a result.

use toolwright_core::error_kind;

use crate::call::{GO_ON, NOT_STARTED};
use toolwright_core::error::{ErrorClass, ToolError};
use toolwright_core::tool::Effect;
use toolwright_journal::journal::{AnswerRecord, CallRecord};

/// Why a call that was begun when its tool could be repeated is left to people now.
pub(super) const NOT_REPEATED: &str =
    "it was begun before, and its tool must not be repeated any more";

/// Why a decision is not valid under a policy with `four_eyes`.
pub(super) const NOT_ITS_OWN_USER: &str =
    "with `four_eyes`, the user that a call is made for may not approve it";

/// Why the decision of a reviewer is not valid if a rule requires a person for each call.
pub(super) const NOT_A_PERSON: &str =
    "a reviewer has decided about it, and a rule now asks a person each time";

pub(crate) const TOOL_CHANGED: &str = "its tool has changed since it was evaluated";

pub(super) const FORMER: &str =
    "an older release evaluated it, which recorded neither its journal nor what a person was shown";

pub(super) const SAID_BEFORE: &str =
    "it was signed for an older release, and names neither its journal nor what was shown";

pub(super) const OTHER_JOURNAL: &str = "it was signed for another journal";

pub(super) const NOT_SHOWN: &str = "what was shown is not what would run";

/// The beginning of the reasons why a person's decision is not valid.
pub(super) const DOES_NOT_COUNT: &str = "its decision does not count";

/// Says that a grant is not valid in this journal or for this project.
pub(super) fn grant_unbound(id: &str, why: &str) -> String {
    format!("grant {id} does not count: {why}")
}

/// Says that a grant no longer covers a call, because its tool has changed.
pub(crate) fn grant_outdated(id: &str) -> String {
    format!("its tool has changed since grant {id} was given")
}

/// Returns the answer of a call that a stage delays, but that cannot be stored to wait.
pub(super) fn cannot_wait(tool: &str, why: &str) -> ToolError {
    let words =
        format!("`{tool}` may begin later ({why}), and a call with a secret cannot wait here");
    ToolError::new("delayed", words).class(NOT_STARTED).hint("call again later").caused_by(
        "there is no key to seal the secret with; give its journal one by `Journal::sealing_key`",
    )
}

pub(super) fn ended_meanwhile(tool: &str) -> ToolError {
    ToolError::new(error_kind::CANCELLED, format!("the run of `{tool}` has ended"))
        .class(ErrorClass::Cancelled)
}

pub(super) fn expired(tool: &str) -> ToolError {
    ToolError::new(error_kind::EXPIRED, format!("the call of `{tool}` was not approved in time"))
        .hint("go on without it, or tell the user that it needs approval")
}

/// Makes the answer of a call that was handed over, and whose result did not come in time.
pub(super) fn not_supplied(record: &CallRecord) -> ToolError {
    let tool = &record.tool;
    let words = format!("`{tool}` is carried out elsewhere, and gave no result in time");
    ToolError::new(error_kind::EXPIRED, format!("{words}{}", elsewhere(record)))
        .hint("go on without it, or tell the user that it did not answer")
}

/// Makes the answer of a call that was handed over and then cancelled.
pub(super) fn recalled(record: &CallRecord) -> ToolError {
    let words = format!("the call of `{}` was cancelled", record.tool);
    ToolError::new(error_kind::CANCELLED, format!("{words}{}", elsewhere(record)))
        .class(ErrorClass::Cancelled)
}

/// Returns the remark that a call which was handed over may have been carried out, so that the answer does not say that
/// nothing happened.
fn elsewhere(record: &CallRecord) -> &'static str {
    match record.effect {
        Effect::Read => "",
        _ => "; it may have been carried out",
    }
}

/// Makes the answer of a call whose approver failed, if no other approver can decide.
pub(super) fn unapproved(record: &CallRecord) -> ToolError {
    let reason = record.ask.as_ref().map(|ask| format!(" ({})", ask.reason)).unwrap_or_default();
    let tool = &record.tool;
    let message =
        format!("`{tool}` needs a person's approval{reason}, and no approver could be asked");
    ToolError::new(error_kind::APPROVAL_REQUIRED, message).class(NOT_STARTED).hint(GO_ON)
}

/// Makes the error of a call whose owner was lost.
pub(super) fn lost(record: &CallRecord) -> ToolError {
    let tool = &record.tool;
    let message = match record.attempt {
        1 => format!("`{tool}` was begun, and its owner was lost"),
        times => format!("`{tool}` was begun {times} times, and its last owner was lost"),
    };
    ToolError::new("owner_lost", message)
}

/// Makes the answer of a call that was begun as often as allowed, and whose tool reported after the last attempt that
/// the call did not happen.
pub(super) fn did_not_happen(record: &CallRecord) -> ToolError {
    let (tool, times) = (&record.tool, record.attempt);
    let message = format!("`{tool}` was begun as often as it may be ({times}), and did not happen");
    ToolError::new("did_not_happen", message)
}

pub(super) fn not_run(record: &CallRecord, why: &str, was_begun: bool) -> ToolError {
    let tool = &record.tool;
    ToolError::new(
        "refused",
        match was_begun {
            false => format!("`{tool}` was not run: {why}"),
            true => format!("`{tool}` cannot be begun again: {why}"),
        },
    )
}

/// Makes the answer that the model receives for a planned call.
pub(super) fn queued(tool: &str) -> AnswerRecord {
    AnswerRecord::text(format!(
        "`{tool}` was put into the plan, and has not run. A person decides about the plan. Do not make this call again; go on with the plan, or say that it is complete."
    ))
}

/// Converts an error in its stored form back to the error.
pub(super) fn error_of(answer: &AnswerRecord) -> ToolError {
    let error =
        answer.to_answer().ok().and_then(|answer| answer.error().map(|it| it.with_more(None)));
    error.unwrap_or_else(|| ToolError::new(error_kind::INTERNAL_ERROR, answer.text.clone()))
}
