//! The answer to a call.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Content, Output};
use crate::error::ToolError;
use crate::repairs::Repairs;
use crate::untrusted;

/// The answer to one call: a result or an error, never both.
///
/// ```
/// use toolwright::{Answer, ToolError};
///
/// let answer = Answer::from(ToolError::new("not_found", "no such note"));
/// assert!(answer.is_error());
/// assert_eq!(answer.text(), r#"{"is_error":true,"error_type":"not_found","message":"no such note"}"#);
/// ```
pub struct Answer {
    /// The text of the result, if the result is a single text or JSON text.
    text: String,
    origin: Origin,
}

/// The shape of the answer, and the repairs of the input if there are any. The repairs are boxed, so that an answer
/// without them stays small.
enum Origin {
    AsSent(Shape),
    Mended(Box<(Shape, Arc<Repairs>)>),
}

enum Shape {
    Text,
    Json,
    Output(Box<Output>),
    Error(ToolError),
}

impl Answer {
    /// Makes an answer from text, which is sent to the model unchanged.
    #[inline]
    #[doc(hidden)]
    pub fn from_text(text: String) -> Self {
        Self { text, origin: Origin::AsSent(Shape::Text) }
    }

    /// Makes an answer from JSON text.
    #[inline]
    #[doc(hidden)]
    pub fn from_json(text: String) -> Self {
        Self { text, origin: Origin::AsSent(Shape::Json) }
    }

    /// Returns whether the call failed.
    pub fn is_error(&self) -> bool {
        self.error().is_some()
    }

    /// Returns the error of a failed call.
    pub fn error(&self) -> Option<&ToolError> {
        match self.shape() {
            Shape::Error(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the answer as text, for a model that reads only text. Blocks are separated by line breaks. A block
    /// without text is replaced by a note about it.
    pub fn text(&self) -> Cow<'_, str> {
        match self.shape() {
            Shape::Text | Shape::Json => Cow::Borrowed(&self.text),
            Shape::Error(error) => Cow::Owned(error.to_json()),
            Shape::Output(output) => match output.content.as_slice() {
                [block] => block.words("text"),
                blocks => Cow::Owned(
                    blocks.iter().map(|it| it.words("text")).collect::<Vec<_>>().join("\n"),
                ),
            },
        }
    }

    /// Returns the same text as [`text`](Self::text). It copies nothing if the answer already contains that text.
    #[inline]
    pub fn into_text(self) -> String {
        match self.shape() {
            Shape::Text | Shape::Json => self.text,
            _ => self.text().into_owned(),
        }
    }

    /// Returns the answer as a list of blocks.
    pub fn content(&self) -> Vec<Content<'_>> {
        match self.shape() {
            Shape::Text => vec![Content::text(&self.text)],
            Shape::Json => vec![Content::json(&self.text)],
            Shape::Output(output) => output.content.clone(),
            Shape::Error(error) => vec![Content::json(error.to_json())],
        }
    }

    /// Returns the result as a value for programs: the value that the tool returned as JSON, or the value that it set
    /// as structured.
    pub fn structured(&self) -> Option<Value> {
        match self.shape() {
            Shape::Json => serde_json::from_str(&self.text).ok(),
            Shape::Output(output) => output.structured.clone(),
            Shape::Text | Shape::Error(_) => None,
        }
    }

    /// Copies the answer and appends a block, such as a note of a middleware. Returns `None` for an error, to which no
    /// block can be added.
    ///
    /// ```
    /// use toolwright::{Answer, Content, Output};
    ///
    /// let answer = Answer::from(Output::text("saved"));
    /// let noted = answer.with(Content::text("[the disk is almost full]")).expect("no error");
    /// assert_eq!(noted.text(), "saved\n[the disk is almost full]");
    /// ```
    #[must_use]
    pub fn with(&self, block: Content<'static>) -> Option<Self> {
        let shape = match self.shape() {
            Shape::Error(_) => return None,
            Shape::Output(output) => Shape::Output(Box::new((**output).clone().with(block))),
            Shape::Text => Shape::Output(Box::new(Output::text(self.text.clone()).with(block))),
            Shape::Json => {
                let structured = serde_json::from_str(&self.text).ok();
                let output = Output { structured, ..Output::default() };
                let output = output.with(Content::json(self.text.clone())).with(block);
                Shape::Output(Box::new(output))
            }
        };
        let origin = match &self.origin {
            Origin::AsSent(_) => Origin::AsSent(shape),
            Origin::Mended(mended) => Origin::Mended(Box::new((shape, Arc::clone(&mended.1)))),
        };
        Some(Self { text: String::new(), origin })
    }

    /// Returns the metadata for the host, which no model sees.
    pub fn metadata(&self) -> Option<&Map<String, Value>> {
        match self.shape() {
            Shape::Output(output) => Some(&output.metadata),
            _ => None,
        }
    }

    /// Returns the metadata that marks an answer as untrusted: an object whose key `source` names a web page, a server
    /// or an API, for instance. `None` for an answer that is not marked, and for an error: see
    /// [`untrusted_source`](Self::untrusted_source).
    ///
    /// ```
    /// use toolwright::{Answer, Output};
    ///
    /// assert!(Answer::from(Output::text("4")).untrusted().is_none());
    /// ```
    pub fn untrusted(&self) -> Option<&Value> {
        self.metadata()?.get(Output::UNTRUSTED)
    }

    /// Returns the source of the untrusted text in the answer, as one line. The condition `after_untrusted` of a policy
    /// rule compares this source with its patterns. For an error, [`ToolError::untrusted`] sets the source.
    ///
    /// ```
    /// use toolwright::{Answer, Output};
    ///
    /// let page = Output::text("Tea").untrusted("web page of tea.example");
    /// assert_eq!(Answer::from(page).untrusted_source().as_deref(), Some("web page of tea.example"));
    /// ```
    pub fn untrusted_source(&self) -> Option<Cow<'_, str>> {
        if let Shape::Error(error) = self.shape() {
            return error.untrusted_source().map(Cow::Borrowed);
        }
        match self.untrusted()? {
            Value::Null | Value::Bool(false) => None,
            Value::String(source) => Some(untrusted::line(source).into()),
            other => Some(match other.get("source").and_then(Value::as_str) {
                Some(source) => untrusted::line(source).into(),
                None => untrusted::line(&other.to_string()).into(),
            }),
        }
    }

    /// Lists all sources of untrusted text in the answer: [`untrusted_source`](Self::untrusted_source), and the sources
    /// that [`Output::also_untrusted`] added.
    pub fn untrusted_sources(&self) -> Vec<String> {
        let Some(first) = self.untrusted_source() else { return Vec::new() };
        let more = self.untrusted().and_then(|it| it.get(Output::SOURCES)?.as_array());
        let more = more.into_iter().flatten().filter_map(Value::as_str).map(untrusted::line);
        std::iter::once(first.into_owned()).chain(more).collect()
    }

    /// Returns the repairs of the input. `None` if the input was not repaired. Also `None` if the call was refused,
    /// cancelled, or out of time before its tool ran; listeners get the repairs even then.
    pub fn repairs(&self) -> Option<&Repairs> {
        match &self.origin {
            Origin::Mended(mended) => Some(&mended.1),
            Origin::AsSent(_) => None,
        }
    }

    #[doc(hidden)]
    pub fn with_repairs(mut self, repairs: Arc<Repairs>) -> Self {
        self.origin = match self.origin {
            Origin::AsSent(shape) => Origin::Mended(Box::new((shape, repairs))),
            mended @ Origin::Mended(_) => mended,
        };
        self
    }

    #[inline]
    fn shape(&self) -> &Shape {
        match &self.origin {
            Origin::AsSent(shape) => shape,
            Origin::Mended(mended) => &mended.0,
        }
    }

    /// Returns the output that the tool built itself.
    #[doc(hidden)]
    pub fn output(&self) -> Option<&Output> {
        match self.shape() {
            Shape::Output(output) => Some(output),
            _ => None,
        }
    }

    /// Returns the JSON text of the result; `None` if the result is not a single serialised value.
    #[doc(hidden)]
    pub fn json(&self) -> Option<&str> {
        match self.shape() {
            Shape::Json => Some(&self.text),
            _ => None,
        }
    }
}

/// Omits the result, which may contain a secret. Errors are shown completely.
impl fmt::Debug for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("Answer");
        match self.shape() {
            Shape::Error(error) => debug.field("error", error).finish(),
            Shape::Text => debug.field("text_bytes", &self.text.len()).finish(),
            Shape::Json => debug.field("json_bytes", &self.text.len()).finish(),
            Shape::Output(output) => debug.field("blocks", &output.content.len()).finish(),
        }
    }
}

impl From<ToolError> for Answer {
    fn from(error: ToolError) -> Self {
        Self { text: String::new(), origin: Origin::AsSent(Shape::Error(error)) }
    }
}

impl From<Output> for Answer {
    fn from(output: Output) -> Self {
        Self { text: String::new(), origin: Origin::AsSent(Shape::Output(Box::new(output))) }
    }
}
