//! Calls that are handed over to another process, which carries them out.

use futures::future::BoxFuture;

use crate::error::ToolError;
use crate::output::Answer;

/// Answers a call of an external tool that could not be handed over: the tool was registered after the build of an
/// executor without a journal.
#[must_use]
pub fn carried_out_elsewhere<'a>() -> BoxFuture<'a, Answer> {
    Box::pin(async { not_handed_over().into() })
}

/// Makes the error of a call of an external tool that could not be handed over.
#[must_use]
pub fn not_handed_over() -> ToolError {
    ToolError::internal(
        "a call that is carried out elsewhere cannot be handed over by an executor without a journal; give it one, or register the tool before it is built",
    )
}
