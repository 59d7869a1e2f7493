//! A history as every provider takes it: nothing empty, and an id of its own for each call of a message.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::de::DeserializeOwned;
use serde::{Deserialize as _, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use toolwright::Answer;
use toolwright::dialect::Listing;
use toolwright::provider::{MessageError, ToolCall};

use crate::{Message, ModelSettings, Verbatim};

/// One message of a history.
pub(super) enum Part<'a> {
    User(&'a str),
    Model {
        text: &'a str,
        calls: Cow<'a, [ToolCall]>,
        verbatim: Option<&'a Verbatim>,
    },
    /// With the ids that the calls have here, where they are not their own.
    Answers(&'a [(ToolCall, Answer)], Option<Vec<String>>),
}

/// The messages. Where a call of a message has no id, one that another call of it has, or one that no provider gives, its
/// calls get ids by their places, and so do their answers.
pub(super) fn parts(history: &[Message]) -> impl Iterator<Item = Part<'_>> {
    parts_by(history, true)
}

/// The messages, for a provider that matches answers by their order where its calls have no ids.
pub(super) fn parts_without_ids(history: &[Message]) -> impl Iterator<Item = Part<'_>> {
    parts_by(history, false)
}

/// Whether a listing's tools are none.
pub(super) fn is_empty_list(tools: &RawValue) -> bool {
    tools.get() == "[]"
}

fn parts_by(history: &[Message], needs_ids: bool) -> impl Iterator<Item = Part<'_>> {
    let mut ids: Option<Vec<String>> = None;
    history.iter().enumerate().filter_map(move |(place, message)| match message {
        Message::User { text, .. } => (!text.trim().is_empty()).then_some(Part::User(text)),
        Message::Model { text, calls, verbatim, .. } => {
            if text.trim().is_empty() && calls.is_empty() {
                return None;
            }
            let is_ordered = !needs_ids && calls.iter().all(|call| call.id.is_none());
            ids = if is_ordered { None } else { made_ids(place, calls) };
            let verbatim = verbatim.as_ref().filter(|_| ids.is_none());
            let calls = match &ids {
                None => Cow::Borrowed(&**calls),
                Some(ids) => calls.iter().zip(ids).map(|(call, id)| with_id(call, id)).collect(),
            };
            Some(Part::Model { text, calls, verbatim })
        }
        Message::Answers(answered) => {
            if answered.is_empty() {
                return None;
            }
            Some(Part::Answers(answered, ids.take()))
        }
    })
}

/// The message or messages that carry answers back, under the ids that their calls have here.
pub(super) fn results(
    listing: &Listing,
    answered: &[(ToolCall, Answer)],
    ids: Option<&[String]>,
) -> Result<Value, MessageError> {
    match ids {
        None => listing.tool_results(answered),
        Some(ids) => listing.tool_results_by_ids(answered, ids),
    }
}

/// The arguments as a JSON object, where they are one.
pub(super) fn object(arguments: &str) -> Option<&RawValue> {
    let raw: &RawValue = serde_json::from_str(arguments.trim()).ok()?;
    raw.get().starts_with('{').then_some(raw)
}

/// For how long `OpenAI` caches, where it should be longer than usual.
pub(super) fn retention(settings: &ModelSettings) -> Option<&'static str> {
    settings.cache.as_ref().is_some_and(|cache| cache.lasts_long).then_some("24h")
}

/// A value that may have another form than is known, such as a negative number of tokens: it counts as none then.
pub(super) fn known<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).ok())
}

/// New ids, where those that the calls have would be refused.
fn made_ids(place: usize, calls: &[ToolCall]) -> Option<Vec<String>> {
    let mut known = HashSet::new();
    let is_fine = |call: &ToolCall| {
        call.id.as_deref().is_some_and(|id| is_plain(id) && known.insert(id.to_owned()))
    };
    if calls.iter().all(is_fine) {
        return None;
    }
    Some((0..calls.len()).map(|index| format!("call_{place}_{index}")).collect())
}

fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

fn with_id(call: &ToolCall, id: &str) -> ToolCall {
    ToolCall { id: Some(id.to_owned()), ..call.clone() }
}
