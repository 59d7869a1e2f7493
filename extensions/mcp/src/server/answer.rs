//! Converts the outcome of a call to a result of the protocol, or to a protocol error. The functions are pure.

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ClientCapabilities, ContentBlock, ResultType};
use serde_json::Value;
use toolwright::dialect::call_tool_result;
use toolwright::journal::State;
use toolwright::{Answer, CallFailure, ErrorClass, Outcome, SuspendedCall, ToolError, error_kind};

use super::client::UNSUPPORTED;

/// Returns the result that the client gets. Only a wrong request or a fault of the server is a protocol error.
///
/// `lacking` is the capability that the tool used although the client did not declare it in its request (revisions without
/// sessions).
pub(super) fn result(
    tool: &str,
    outcome: Outcome,
    lacking: Option<ClientCapabilities>,
) -> Result<CallToolResult, ErrorData> {
    let answer = match outcome {
        Outcome::Answered(answer) => answer,
        Outcome::Suspended(waits) => Answer::from(waiting(tool, &waits)),
        Outcome::Failed(failure) => Answer::from(explain_failure(tool, &failure)?),
    };
    let is_unsupported = answer.error().is_some_and(|error| error.kind() == UNSUPPORTED);
    if let Some(lacking) = lacking.filter(|_| is_unsupported) {
        return Err(ErrorData::missing_required_client_capability(lacking));
    }
    let mut result = read(call_tool_result(&answer)).map_err(|error| {
        tracing::error!(tool, %error, "an answer cannot be converted to a result of the protocol");
        ErrorData::internal_error(format!("the answer of `{tool}` cannot be sent"), None)
    })?;
    // `rmcp` does not send this field to clients of revisions before 2026-07-28.
    result.result_type = Some(ResultType::COMPLETE);
    Ok(result)
}

/// Returns the protocol error for the call of a tool that neither the registry nor a resolver knows.
pub(super) fn unknown_tool(outcome: &Outcome) -> Option<ErrorData> {
    let Outcome::Answered(answer) = outcome else { return None };
    let error = answer.error().filter(|error| error.kind() == error_kind::UNKNOWN_TOOL)?;
    Some(ErrorData::invalid_params(error.message().to_owned(), None))
}

/// Converts the result to the protocol's type. The texts of the answer are moved, not copied.
fn read(mut result: Value) -> serde_json::Result<CallToolResult> {
    let blocks = match result["content"].take() {
        Value::Array(blocks) => blocks.into_iter().map(block).collect::<Result<_, _>>()?,
        other => return serde_json::from_value(other),
    };
    let mut read = CallToolResult::success(blocks);
    read.structured_content = result.get_mut("structuredContent").map(Value::take);
    read.is_error = result["isError"].as_bool();
    Ok(read)
}

fn block(mut block: Value) -> serde_json::Result<ContentBlock> {
    let is_text = block["type"] == "text" && block.as_object().is_some_and(|it| it.len() == 2);
    match block.get_mut("text").map(Value::take) {
        Some(Value::String(text)) if is_text => Ok(ContentBlock::text(text)),
        Some(other) => {
            block["text"] = other;
            serde_json::from_value(block)
        }
        None => serde_json::from_value(block),
    }
}

/// Makes the error for a call that waits, mostly for a person.
fn waiting(tool: &str, waits: &SuspendedCall) -> ToolError {
    let call = waits.call;
    let (kind, message, hint) = match (&waits.request, waits.state) {
        (Some(request), State::Pending) => (
            "approval_required",
            format!("`{tool}` waits for a person's approval as call {call}: {}", request.reason),
            format!(
                "ask the user to decide on call {call} where the application takes approvals (`toolwright approvals`), then make the same call again"
            ),
        ),
        (_, State::Planned) => (
            "approval_required",
            format!("`{tool}` is in a plan as call {call}, which a person has to accept"),
            "tell the user that the plan waits; go on with calls that only read".to_owned(),
        ),
        (_, State::Indeterminate) => (
            "indeterminate",
            format!("`{tool}` was begun as call {call}, and it is unknown whether it happened"),
            "do not repeat it; a person has to find out".to_owned(),
        ),
        (_, State::HandedOver) => (
            "not_finished",
            format!("call {call} of `{tool}` is carried out elsewhere, and has no result yet"),
            "make the same call again later to get its result".to_owned(),
        ),
        (_, state) => (
            "not_finished",
            format!("call {call} of `{tool}` is {state}"),
            "make the same call again later to get its result".to_owned(),
        ),
    };
    let class = match waits.state {
        State::Indeterminate => ErrorClass::Unknown,
        _ => ErrorClass::NotStarted { retry_after: None },
    };
    let details = serde_json::json!({"call": call.to_string(), "state": waits.state.to_string()});
    ToolError::new(kind, message).class(class).hint(hint).details(details)
}

/// Makes the error for a call that cannot continue here. Details of the journal's failure go only to the operator's
/// log.
fn explain_failure(tool: &str, failure: &CallFailure) -> Result<ToolError, ErrorData> {
    let error = match failure {
        CallFailure::NoApprover { .. } => {
            ToolError::new(error_kind::APPROVAL_REQUIRED, failure.to_string())
                .hint("go on without this call, or tell the user that it needs approval")
        }
        CallFailure::ShuttingDown { .. } => {
            ToolError::new(error_kind::SHUTTING_DOWN, failure.to_string())
        }
        CallFailure::ResultNotRecorded { call, .. } => {
            let words = format!("`{tool}` was run as call {call}, and its result is lost");
            ToolError::new(error_kind::INDETERMINATE, words)
                .hint("do not repeat it; a person has to find out")
        }
        _ => {
            tracing::error!(tool, %failure, "a call of a session failed");
            let words = format!("`{tool}` could not be run safely; the operator has to look");
            return Err(ErrorData::internal_error(words, None));
        }
    };
    Ok(error)
}
