//! The form of a chunk, with the deviations of servers that imitate the API.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::{StreamError, parse};

#[derive(Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub(super) object: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub(super) index: u64,
    #[serde(borrow)]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(borrow)]
    pub(super) finish_reason: Option<Cow<'a, str>>,
    /// The error of the server behind a gateway, which some gateways write here.
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Delta<'a> {
    /// A piece of the text. Mistral's models that reason send a list of parts instead.
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) refusal: Option<Cow<'a, str>>,
    /// The reasoning. `OpenAI` sends none, but many servers with the same API do, under this name, under `reasoning`,
    /// or under both.
    #[serde(borrow)]
    pub(super) reasoning_content: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) reasoning: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) reasoning_details: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tool_calls: Option<Vec<CalledFunction<'a>>>,
}

impl Delta<'_> {
    /// Returns the parts of the content: the reasoning and the text of each.
    pub(super) fn parts(&self) -> Result<Vec<(String, String)>, StreamError> {
        let parts: Vec<Value> = match self.content.map(RawValue::get) {
            None => return Ok(Vec::new()),
            Some(list) if list.starts_with('[') => parse(list)?,
            Some(text) => parse(text).map(|TextPiece(text)| vec![text.into()])?,
        };
        Ok(parts.iter().map(|part| (text_of(&part["thinking"]), text_of(part))).collect())
    }
}

#[derive(Deserialize)]
pub(super) struct CalledFunction<'a> {
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) function: Option<Function<'a>>,
    #[serde(borrow)]
    pub(super) extra_content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub(super) name: Option<Cow<'a, str>>,
    /// A piece of a text. Some servers send the arguments as an object instead.
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl<'a> Function<'a> {
    /// Returns the arguments as text, and whether the server sent them as an object.
    pub(super) fn arguments(&self) -> Result<(Cow<'a, str>, bool), StreamError> {
        match self.arguments.map(RawValue::get) {
            None => Ok((Cow::Borrowed(""), false)),
            Some(object) if object.starts_with('{') => Ok((Cow::Borrowed(object), true)),
            Some(text) => parse(text).map(|TextPiece(text)| (text, false)),
        }
    }
}

#[derive(Deserialize)]
struct TextPiece<'a>(#[serde(borrow)] Cow<'a, str>);

/// Returns the text of a part, or of a list of parts.
fn text_of(parts: &Value) -> String {
    match parts {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect(),
        part => part["text"].as_str().unwrap_or_default().to_owned(),
    }
}
