//! The errors of a stream that yields no message.

use crate::provider::ToolCall;

/// Why a stream yields no complete message.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The stream ended before the answer was complete.
    #[error(
        "the stream ended before the answer was complete, with {} complete calls; ask again",
        complete.len()
    )]
    #[non_exhaustive]
    Cut {
        /// The calls that were complete.
        complete: Vec<ToolCall>,
    },
    /// The provider sent an error instead of the rest of its answer.
    #[error("the provider reported an error in the middle of its answer: {body}")]
    #[non_exhaustive]
    Provider {
        /// The error event, as the provider wrote it.
        body: String,
    },
    /// An event contradicts the events before it.
    #[error("the stream is out of order: {found}, expected {expected}")]
    #[non_exhaustive]
    Order {
        /// The event that arrived.
        found: String,
        /// The events that were possible.
        expected: &'static str,
    },
    /// The data of an event is not JSON, or does not have the provider's form.
    #[error("an event of the stream is not in the provider's form: {0}")]
    NotJson(serde_json::Error),
    /// The bytes are not UTF-8.
    #[error("a line of the stream is not UTF-8")]
    NotUtf8(#[from] std::str::Utf8Error),
}
toolwright_core::debug_as_sentence!(StreamError);

impl StreamError {
    pub(super) fn order(found: impl Into<String>, expected: &'static str) -> Self {
        Self::Order { found: found.into(), expected }
    }
}
