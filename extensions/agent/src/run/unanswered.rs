//! The answers to calls that no tool has answered.

use toolwright::provider::ToolCall;
use toolwright::{ErrorClass, ToolError};

/// The answer to a call that the model could not write to its end.
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

/// The answer to a call of which nothing is known.
pub(super) fn interrupted(call: &ToolCall) -> ToolError {
    ToolError::new("interrupted", format!("the call of `{}` was interrupted", call.name))
        .class(ErrorClass::Unknown)
        .hint("look whether it has taken effect before you make it again")
}
