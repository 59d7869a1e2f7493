//! Errors in a provider's message.

use super::kind::Provider;

/// Why a message has no tool calls, or answers make no message.
///
/// ```
/// use toolwright::provider::{MessageError, Provider};
///
/// let call = r#"[{"type":"custom_tool_call","call_id":"call_7","name":"patch","input":"…"}]"#;
/// let error = Provider::OpenAiResponses.tool_calls(call).unwrap_err();
/// assert!(matches!(error, MessageError::Unsupported { .. }));
/// assert_eq!(
///     error.to_string(),
///     "openai-responses message at /0: call call_7 is a custom_tool_call, only function calls are supported"
/// );
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// The text is not one JSON value.
    #[error("the message is not JSON")]
    NotJson(#[source] serde_json::Error),
    /// The message has the format of no provider, or fits several formats equally well.
    #[error("the message names no provider by its shape, {found}")]
    Unrecognised {
        /// What kind of JSON value the message is.
        found: String,
    },
    /// The shape of the message fits several providers.
    #[error("the message may be of {one} or of {other}")]
    Ambiguous {
        /// One of the providers whose format the message has.
        one: Provider,
        /// Another provider whose format the message has.
        other: Provider,
    },
    /// The message is in the format of another provider than the expected one.
    #[error("expected a message of {expected}, found one of {found}")]
    OtherProvider {
        /// The expected provider.
        expected: Provider,
        /// The provider that the shape belongs to.
        found: Provider,
    },
    /// A value is missing or of a wrong type.
    #[error("{provider} message at {}: expected {expected}, found {found}", place(.pointer))]
    Unexpected {
        /// The expected provider.
        provider: Provider,
        /// The place of the error, as a JSON pointer; empty for the whole message.
        pointer: String,
        /// The value that was expected at that place.
        expected: &'static str,
        /// The value that was found at that place.
        found: String,
    },
    /// The message has a call that the client must answer, but that is not a function call.
    #[error(
        "{provider} message at {}: call {call} is a {kind}, only function calls are supported",
        place(.pointer)
    )]
    Unsupported {
        /// The expected provider.
        provider: Provider,
        /// The location of the call, as a JSON pointer.
        pointer: String,
        /// The id of the call, or the tool's name if the call has no id.
        call: String,
        /// The provider's name for this kind of call.
        kind: String,
    },
    /// The model was stopped while it wrote a call, so its arguments cannot be trusted.
    #[error("{provider} message at {}: the call is incomplete, the model stopped with `{reason}`", place(.pointer))]
    CutShort {
        /// The expected provider.
        provider: Provider,
        /// JSON pointer to the call; to the reason, if the message does not contain the call.
        pointer: String,
        /// The reason, as the provider words it.
        reason: String,
    },
    /// The format is only for listing tools, and has no messages.
    #[error("messages of {dialect} are read and written by a library of its own")]
    NoMessages {
        /// The form.
        dialect: crate::dialect::Dialect,
    },
    /// An alternative other than the first calls tools, and it is unknown which one the history will contain.
    #[error("{provider} message at {}: tools are called in an alternative other than the first", place(.pointer))]
    SeveralAlternatives {
        /// The expected provider.
        provider: Provider,
        /// The location of the alternative, as a JSON pointer.
        pointer: String,
    },
    /// An answer has no id, and the provider finds the call of an answer by its id.
    #[error("{provider} needs the call's id in an answer, answer {index} of tool {name} has none")]
    MissingId {
        /// The provider.
        provider: Provider,
        /// The tool's name.
        name: String,
        /// The index of the answer in the list, counted from 0.
        index: usize,
    },
}
toolwright_core::debug_as_sentence!(MessageError);

fn place(pointer: &str) -> &str {
    if pointer.is_empty() { "the top" } else { pointer }
}
