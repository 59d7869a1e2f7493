//! Errors of reading and writing a provider's messages.

use super::kind::Provider;

/// Why the tool calls of a message could not be read, or the answers could not be written.
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
    /// The text is not a single JSON value.
    #[error("the message is not JSON")]
    NotJson(#[source] serde_json::Error),
    /// The shape of the message fits no provider.
    #[error("the message names no provider by its shape, {found}")]
    Unrecognised {
        /// A description of the message's shape.
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
        /// The provider whose format the message has.
        found: Provider,
    },
    /// A value is missing or has the wrong type.
    #[error("{provider} message at {}: expected {expected}, found {found}", place(.pointer))]
    Unexpected {
        /// The provider in whose format the message was read.
        provider: Provider,
        /// The place of the error, as a JSON pointer; empty for the whole message.
        pointer: String,
        /// What was expected at that place.
        expected: &'static str,
        /// What was found at that place.
        found: String,
    },
    /// The client has to answer a call that is not a function call.
    #[error(
        "{provider} message at {}: call {call} is a {kind}, only function calls are supported",
        place(.pointer)
    )]
    Unsupported {
        /// The provider in whose format the message was read.
        provider: Provider,
        /// The location of the call, as a JSON pointer.
        pointer: String,
        /// The id of the call, or the tool's name if the call has no id.
        call: String,
        /// The provider's name for this kind of call.
        kind: String,
    },
    /// The model stopped while it wrote a call, so the arguments of the call may be incomplete.
    #[error("{provider} message at {}: the call is incomplete, the model stopped with `{reason}`", place(.pointer))]
    CutShort {
        /// The provider in whose format the message was read.
        provider: Provider,
        /// The place of the call, as a JSON pointer. If the message does not contain the call, the place of the reason.
        pointer: String,
        /// The reason for stopping, in the words of the provider.
        reason: String,
    },
    /// This crate does not read or write the messages of the dialect. This is so for MCP, whose messages another
    /// library reads and writes.
    #[error("messages of {dialect} are read and written by a library of its own")]
    NoMessages {
        /// The dialect.
        dialect: crate::dialect::Dialect,
    },
    /// Another alternative than the first one calls tools. It is unknown which alternative the history will contain.
    #[error("{provider} message at {}: tools are called in an alternative other than the first", place(.pointer))]
    SeveralAlternatives {
        /// The provider in whose format the message was read.
        provider: Provider,
        /// The location of the alternative, as a JSON pointer.
        pointer: String,
    },
    /// A call has no id, but the provider matches answers with calls by ids.
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
