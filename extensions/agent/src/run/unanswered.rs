//! Answers for calls that no tool has answered.

use toolwright::provider::ToolCall;
use toolwright::{ErrorClass, ToolError};

/// Returns the error for a call that was cut off before the model had finished writing the call.
pub(super) fn cut_short(call: &ToolCall) -> ToolError {
    ToolError::new(
        "call_cut_short",
        format!(
            "the call of `{}` was cut short, because the answer was too long; it was not run",
            call.name
        ),
    )
    .class(ErrorClass::Invalid)
    .hint("make the call again in smaller parts")
}

/// Returns the error for a call whose outcome is unknown.
pub(super) fn interrupted(call: &ToolCall) -> ToolError {
    ToolError::new("interrupted", format!("the call of `{}` was interrupted", call.name))
        .class(ErrorClass::Unknown)
        .hint("look whether it has taken effect before you make it again")
}
