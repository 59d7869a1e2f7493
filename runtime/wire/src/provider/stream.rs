//! Reads a provider's streamed answer. Takes pieces of bytes, and returns events and finally the whole message. Does no
//! I/O.
//!
//! - The pieces may have any size and may be cut anywhere. That does not change the text, the calls or the message.
//! - The whole message can be read with [`Provider::tool_calls`]. Arguments that are JSON are exactly what the model
//!   wrote.
//! - If the stream ends before the provider has marked the answer as complete, the result is an error that contains the
//!   complete calls.
//! - An event of an unknown kind is reported and skipped. An event that contradicts an earlier event is an error.
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

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::Error as _;
use serde_json::value::RawValue;

pub use self::error::StreamError;
use self::lines::Lines;
use super::{Provider, ToolCall};

/// An event of a streamed answer.
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
    /// A call has begun.
    #[non_exhaustive]
    CallBegan {
        /// The index of the call in the answer, from 0.
        index: usize,
        /// The tool's name, as the model wrote it.
        name: String,
    },
    /// The next part of the arguments of a call that is not complete yet.
    #[non_exhaustive]
    Arguments {
        /// The index of the call in the answer.
        index: usize,
        /// The text that follows the earlier pieces.
        delta: String,
    },
    /// A call is complete. Whether the whole answer is complete is known only at the end of the stream.
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
    /// The stream contained an event of a kind that this release does not know. The event was skipped.
    #[non_exhaustive]
    Unknown {
        /// The name of the kind, as the provider writes it.
        kind: String,
    },
}

impl StreamEvent {
    /// Returns the length of the piece of text, reasoning or arguments that the event contains.
    fn length(&self) -> usize {
        match self {
            Self::Text(piece) | Self::Reasoning(piece) | Self::Arguments { delta: piece, .. } => {
                piece.len()
            }
            _ => 0,
        }
    }
}

/// Reads one streamed answer of a provider. Made by [`Provider::stream`].
#[derive(Debug)]
pub struct MessageStream {
    lines: Lines,
    assembly: Assembly,
    /// The calls that are complete.
    calls: Vec<ToolCall>,
    /// How many bytes the events have contributed to the answer.
    taken: usize,
}

#[derive(Debug)]
enum Assembly {
    Anthropic(anthropic::Assembly),
    OpenAiChat(openai_chat::Assembly),
    OpenAiResponses(openai_responses::Assembly),
    Gemini(gemini::Assembly),
}

impl Provider {
    /// Makes a reader for an answer that arrives as server-sent events.
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
        MessageStream { lines: Lines::default(), assembly, calls: Vec::new(), taken: 0 }
    }
}

impl MessageStream {
    /// Reads the next bytes of the stream, and returns the events that these bytes complete.
    ///
    /// # Errors
    /// When the provider reports an error, or when the bytes are not a stream of this provider. The stream cannot be
    /// used afterwards.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<StreamEvent>, StreamError> {
        let mut events = Vec::new();
        let Self { lines, assembly, calls, taken } = self;
        lines.push(bytes, |data| {
            let before = events.len();
            match assembly {
                Assembly::Anthropic(it) => it.push(data, &mut events)?,
                Assembly::OpenAiChat(it) => it.push(data, &mut events)?,
                Assembly::OpenAiResponses(it) => it.push(data, &mut events)?,
                Assembly::Gemini(it) => it.push(data, &mut events)?,
            }
            let pieces: usize = events[before..].iter().map(StreamEvent::length).sum();
            *taken += if pieces == 0 { data.len() } else { pieces };
            calls.extend(events[before..].iter().filter_map(|event| match event {
                StreamEvent::Call { call, .. } => Some(call.clone()),
                _ => None,
            }));
            Ok(())
        })?;
        Ok(events)
    }

    /// Returns whether the provider has marked the answer as complete. Always `false` for Gemini, whose answers have no
    /// such mark before the stream ends.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        match &self.assembly {
            Assembly::Anthropic(it) => it.is_done(),
            Assembly::OpenAiChat(it) => it.is_done(),
            Assembly::OpenAiResponses(it) => it.is_done(),
            Assembly::Gemini(_) => false,
        }
    }

    /// Returns how many bytes of the answer have arrived, for a limit on its size. An event that adds to a text, to
    /// reasoning or to arguments counts with what it adds, because what surrounds it may be hundreds of times as long.
    /// Every other event counts with its whole data.
    ///
    /// ```
    /// use toolwright::provider::Provider;
    ///
    /// let mut stream = Provider::OpenAiChat.stream();
    /// stream.push(b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"I be\"}}]}\n\n")?;
    /// assert_eq!(stream.size(), "I be".len());
    /// # Ok::<(), toolwright::provider::StreamError>(())
    /// ```
    #[must_use]
    pub fn size(&self) -> usize {
        self.taken + self.lines.pending()
    }

    /// Returns the provider's token counts for the answer so far, as JSON in the provider's own format. `None` if the
    /// provider has not sent them yet. Always `None` for the Responses API, which sends them only in the whole
    /// response.
    #[must_use]
    pub fn usage(&self) -> Option<String> {
        match &self.assembly {
            Assembly::Anthropic(it) => it.usage(),
            Assembly::OpenAiChat(it) => it.usage(),
            Assembly::OpenAiResponses(_) => None,
            Assembly::Gemini(it) => it.usage(),
        }
    }

    /// Returns the whole message, as the provider would have sent it without streaming.
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

/// Parses the data of an event.
fn parse<'a, T: Deserialize<'a>>(data: &'a str) -> Result<T, StreamError> {
    serde_json::from_str(data).map_err(StreamError::NotJson)
}

/// Returns the kind of an event. An event without a kind may be an error that a gateway reports in its own form.
fn kind_of(data: &str) -> Result<Cow<'_, str>, StreamError> {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow)]
        r#type: Option<Cow<'a, str>>,
        #[serde(borrow)]
        error: Option<&'a RawValue>,
    }
    let head: Head<'_> = parse(data)?;
    match (head.r#type, head.error) {
        (Some(kind), _) => Ok(kind),
        (None, Some(error)) if error.get() != "null" => {
            Err(StreamError::Provider { body: data.to_owned() })
        }
        (None, _) => Err(StreamError::NotJson(serde_json::Error::missing_field("type"))),
    }
}

/// Returns whether an event may follow the end of an answer. Some servers send a sign of life there, or the end of the
/// chat API.
fn may_follow(data: &str) -> bool {
    data.trim() == "[DONE]"
        || kind_of(data).is_ok_and(|kind| matches!(&*kind, "ping" | "keepalive"))
}

/// Returns a text as a JSON string.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Formats the arguments of a call for a message. JSON remains unchanged, and no arguments become an empty object. Any
/// other text becomes a JSON string, so that it is not mistaken for arguments.
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
