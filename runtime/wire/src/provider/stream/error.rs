//! Why a stream makes no message.

use crate::provider::ToolCall;

/// Why a stream makes no complete message.
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
        /// The complete calls.
        complete: Vec<ToolCall>,
    },
    /// The provider reports an error in the middle of its answer.
    #[error("the provider reported an error in the middle of its answer: {body}")]
    #[non_exhaustive]
    Provider {
        /// The event, as the provider wrote it.
        body: String,
    },
    /// An event contradicts the events before it.
    #[error("the stream is out of order: {found}, expected {expected}")]
    #[non_exhaustive]
    Order {
        /// The event that came.
        found: String,
        /// The events that could have come.
        expected: &'static str,
    },
    /// The data of an event are not JSON, or not of the provider's form.
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
