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
    /// The shape is that of no provider, or fits several equally.
    #[error("the message names no provider by its shape, {found}")]
    Unrecognised {
        /// A description of the message that was found.
        found: String,
    },
    /// The shape of the message fits several providers.
    #[error("the message may be of {one} or of {other}")]
    Ambiguous {
        /// One provider that the shape fits.
        one: Provider,
        /// Another provider that the shape fits.
        other: Provider,
    },
    /// The message was written by another provider than expected.
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
        /// JSON pointer to the place, empty for the whole message.
        pointer: String,
        /// A description of the expected value.
        expected: &'static str,
        /// A description of the value that was found.
        found: String,
    },
    /// The client has to answer the call, but it is not a function call.
    #[error(
        "{provider} message at {}: call {call} is a {kind}, only function calls are supported",
        place(.pointer)
    )]
    Unsupported {
        /// The expected provider.
        provider: Provider,
        /// The location of the call, as a JSON pointer.
        pointer: String,
        /// The id of the call, or its name if it has no id.
        call: String,
        /// The provider's name of this kind of call.
        kind: String,
    },
    /// The model was stopped while it wrote a call, so its arguments cannot be trusted.
    #[error("{provider} message at {}: the call is incomplete, the model stopped with `{reason}`", place(.pointer))]
    CutShort {
        /// The expected provider.
        provider: Provider,
        /// JSON pointer to the call, or to the reason if the call is not in the message.
        pointer: String,
        /// The reason in the provider's words.
        reason: String,
    },
    /// The form defines no messages.
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
    /// An answer has no id, and the provider matches answers by id.
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
