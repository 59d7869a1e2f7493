//! Reads a provider's streamed answer: takes pieces of bytes, returns events and finally the whole message. Pure.
//!
//! - The pieces may have any size and may be cut anywhere: the events are the same.
//! - [`Provider::tool_calls`] can read the whole message. It contains arguments exactly as the model wrote them.
//! - If a stream ends before its provider has said that the answer is complete, that is an error, which contains the
//!   complete calls.
//! - An event of an unknown kind is skipped and reported. One that contradicts those before it is an error.
//!
//! ```text
//!   bytes ──▶ lines ──▶ data of an event ──▶ one provider's assembly ──▶ [StreamEvent], and the message at the end
//! ```

mod anthropic;
mod begun;
mod error;
mod gemini;
mod lines;
mod openai_chat;
mod openai_responses;
mod reasoning_details;

use serde::Deserialize;
use serde_json::value::RawValue;

pub use self::error::StreamError;
use self::lines::Lines;
use super::{Provider, ToolCall};

/// An event of a stream.
///
/// ```
/// use toolwright::provider::{Provider, StreamEvent};
///
/// let mut stream = Provider::Gemini.stream();
/// let line = b"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hel";
/// assert_eq!(stream.push(line)?, []);
/// let rest = b"lo\"}]},\"finishReason\":\"STOP\"}]}\n\n";
/// assert_eq!(stream.push(rest)?, [StreamEvent::Text("Hello".into())]);
/// assert!(Provider::Gemini.tool_calls(&stream.finish()?)?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamEvent {
    /// The next part of the model's text.
    Text(String),
    /// The next part of the model's reasoning.
    Reasoning(String),
    /// A call began.
    #[non_exhaustive]
    CallBegan {
        /// The index of the call in the answer, from 0.
        index: usize,
        /// The tool's name, as the model wrote it.
        name: String,
    },
    /// The next part of the arguments of a call that has begun and is not complete.
    #[non_exhaustive]
    Arguments {
        /// The index of the call in the answer.
        index: usize,
        /// The text that follows the earlier pieces.
        delta: String,
    },
    /// A call is complete. Only the end of the stream shows whether the whole answer is.
    #[non_exhaustive]
    Call {
        /// The index of the call in the answer.
        index: usize,
        /// The call.
        call: ToolCall,
    },
    /// The provider runs one of its own tools.
    #[non_exhaustive]
    ProviderTool {
        /// The tool's name at the provider.
        name: String,
    },
    /// The stream had an event of a kind that this release does not know, which was skipped.
    #[non_exhaustive]
    Unknown {
        /// The provider's name of the kind.
        kind: String,
    },
}

/// A provider's streamed answer, made by [`Provider::stream`].
#[derive(Debug)]
pub struct MessageStream {
    lines: Lines,
    assembly: Assembly,
    /// The complete calls.
    calls: Vec<ToolCall>,
}

#[derive(Debug)]
enum Assembly {
    Anthropic(anthropic::Assembly),
    OpenAiChat(openai_chat::Assembly),
    OpenAiResponses(openai_responses::Assembly),
    Gemini(gemini::Assembly),
}

impl Provider {
    /// Starts to read an answer that comes as server-sent events.
    ///
    /// ```
    /// use toolwright::provider::{Provider, StreamError};
    ///
    /// let mut stream = Provider::OpenAiChat.stream();
    /// stream.push(b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"I be\"}}]}\n\n")?;
    /// assert!(matches!(stream.finish(), Err(StreamError::Cut { .. })));
    /// # Ok::<(), StreamError>(())
    /// ```
    #[must_use]
    pub fn stream(self) -> MessageStream {
        let assembly = match self {
            Self::Anthropic => Assembly::Anthropic(anthropic::Assembly::default()),
            Self::OpenAiChat => Assembly::OpenAiChat(openai_chat::Assembly::default()),
            Self::OpenAiResponses => {
                Assembly::OpenAiResponses(openai_responses::Assembly::default())
            }
            Self::Gemini => Assembly::Gemini(gemini::Assembly::default()),
        };
        MessageStream { lines: Lines::default(), assembly, calls: Vec::new() }
    }
}

impl MessageStream {
    /// Parses the next bytes of the stream, and returns the events that they complete.
    ///
    /// # Errors
    /// When the provider reports an error, or the bytes are not a stream of this provider. The stream is over then.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<StreamEvent>, StreamError> {
        let mut events = Vec::new();
        let Self { lines, assembly, calls } = self;
        lines.push(bytes, |data| {
            let before = events.len();
            match assembly {
                Assembly::Anthropic(it) => it.push(data, &mut events)?,
                Assembly::OpenAiChat(it) => it.push(data, &mut events)?,
                Assembly::OpenAiResponses(it) => it.push(data, &mut events)?,
                Assembly::Gemini(it) => it.push(data, &mut events)?,
            }
            calls.extend(events[before..].iter().filter_map(|event| match event {
                StreamEvent::Call { call, .. } => Some(call.clone()),
                _ => None,
            }));
            Ok(())
        })?;
        Ok(events)
    }

    /// Reports whether the provider has said that the answer is complete. For Gemini, only the end of the stream
    /// shows that.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        match &self.assembly {
            Assembly::Anthropic(it) => it.is_done(),
            Assembly::OpenAiChat(it) => it.is_done(),
            Assembly::OpenAiResponses(it) => it.is_done(),
            Assembly::Gemini(_) => false,
        }
    }

    /// Returns the provider's token counts for the answer so far, as JSON in the provider's own format; `None` if the
    /// provider has not sent them yet.
    #[must_use]
    pub fn usage(&self) -> Option<String> {
        match &self.assembly {
            Assembly::Anthropic(it) => it.usage(),
            Assembly::OpenAiChat(it) => it.usage(),
            Assembly::OpenAiResponses(_) => None,
            Assembly::Gemini(it) => it.usage(),
        }
    }

    /// Makes the whole message, as the provider would have sent it without streaming.
    ///
    /// # Errors
    /// When the stream ended before the answer was complete.
    pub fn finish(self) -> Result<String, StreamError> {
        let message = match self.assembly {
            Assembly::Anthropic(it) => it.message(),
            Assembly::OpenAiChat(it) => it.message(),
            Assembly::OpenAiResponses(it) => it.message(),
            Assembly::Gemini(it) => it.message(),
        };
        message.ok_or(StreamError::Cut { complete: self.calls })
    }
}

/// Parses the data of an event as JSON of type `T`.
fn parse<'a, T: Deserialize<'a>>(data: &'a str) -> Result<T, StreamError> {
    serde_json::from_str(data).map_err(StreamError::NotJson)
}

/// Writes a text as a JSON string.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Writes the arguments of a call for a message: unchanged if they are JSON, and an empty object if there are none. Any
/// other text becomes a string, so that no reader takes it for arguments.
fn embed(arguments: &str) -> String {
    if arguments.trim().is_empty() {
        return "{}".to_owned();
    }
    match serde_json::from_str::<&RawValue>(arguments) {
        Ok(raw) => raw.get().to_owned(),
        Err(_) => quote(arguments),
    }
}

#[cfg(test)]
mod tests;
