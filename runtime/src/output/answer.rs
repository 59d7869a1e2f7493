//! The one answer that every call gets.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{Content, Output};
use crate::error::ToolError;

/// The answer to one call: a result or an error, never both.
///
/// ```
/// use toolwright::{Answer, ToolError};
///
/// let answer = Answer::from(ToolError::new("not_found", "no such note"));
/// assert!(answer.is_error());
/// assert_eq!(answer.text(), r#"{"is_error":true,"error_type":"not_found","message":"no such note"}"#);
/// ```
#[derive(Debug)]
pub struct Answer(Body);

/// Small, because every stage hands it on.
#[derive(Debug)]
enum Body {
    Text(String),
    Json(String),
    Output(Box<Output>),
    Error(ToolError),
}

impl Answer {
    /// A result that is text, sent as it is.
    #[inline]
    pub(crate) fn from_text(text: String) -> Self {
        Self(Body::Text(text))
    }

    /// A result that is JSON.
    #[inline]
    pub(crate) fn from_json(json: String) -> Self {
        Self(Body::Json(json))
    }

    /// Whether the call failed.
    pub fn is_error(&self) -> bool {
        matches!(self.0, Body::Error(_))
    }

    /// The error of a failed call.
    pub fn error(&self) -> Option<&ToolError> {
        match &self.0 {
            Body::Error(error) => Some(error),
            _ => None,
        }
    }

    /// The answer as text: what a model that only reads text gets. Blocks stand one below the
    /// other; what is no text is named by type and size.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.0 {
            Body::Text(text) | Body::Json(text) => Cow::Borrowed(text),
            Body::Error(error) => Cow::Owned(error.to_json()),
            Body::Output(output) => match output.content.as_slice() {
                [block] => block.words("text"),
                blocks => Cow::Owned(
                    blocks.iter().map(|it| it.words("text")).collect::<Vec<_>>().join("\n"),
                ),
            },
        }
    }

    /// The answer as text, without a copy where it is text already.
    #[inline]
    pub fn into_text(self) -> String {
        match self.0 {
            Body::Text(text) | Body::Json(text) => text,
            _ => self.text().into_owned(),
        }
    }

    /// The answer block by block.
    pub fn content(&self) -> Vec<Content<'_>> {
        match &self.0 {
            Body::Text(text) => vec![Content::text(text)],
            Body::Json(json) => vec![Content::json(json)],
            Body::Output(output) => output.content.clone(),
            Body::Error(error) => vec![Content::json(error.to_json())],
        }
    }

    /// The result as a value, for programs: what the tool returned, or what it set as structured.
    pub fn structured(&self) -> Option<Value> {
        match &self.0 {
            Body::Json(json) => serde_json::from_str(json).ok(),
            Body::Output(output) => output.structured.clone(),
            Body::Text(_) | Body::Error(_) => None,
        }
    }

    /// Facts for the host, which no model sees.
    pub fn metadata(&self) -> Option<&Map<String, Value>> {
        match &self.0 {
            Body::Output(output) => Some(&output.metadata),
            _ => None,
        }
    }

    /// The JSON text, where the result is one serialised value.
    pub(crate) fn json(&self) -> Option<&str> {
        match &self.0 {
            Body::Json(json) => Some(json),
            _ => None,
        }
    }
}

impl From<ToolError> for Answer {
    fn from(error: ToolError) -> Self {
        Self(Body::Error(error))
    }
}

impl From<Output> for Answer {
    fn from(output: Output) -> Self {
        Self(Body::Output(Box::new(output)))
    }
}
