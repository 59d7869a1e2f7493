//! A history as every provider takes it: nothing empty, an object as the arguments of each call, and an id of its own for each call of
//! a message.

mod arguments;

use std::borrow::Cow;
use std::collections::HashSet;

use serde::de::DeserializeOwned;
use serde::{Deserialize as _, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use toolwright::dialect::Listing;
use toolwright::provider::{MediaSupport, MessageError, Provider, ToolCall};
use toolwright::{Answer, Content};

use self::arguments::sendable_calls;
pub(super) use self::arguments::{object, sendable};
use crate::history::Message;
use crate::model::{ModelRequest, ModelSettings};

/// One message of a history.
pub(super) enum Part<'a> {
    User(&'a str),
    /// With what belongs to it.
    Attached(&'a str, &'a [Content<'static>]),
    Model {
        text: &'a str,
        calls: Cow<'a, [ToolCall]>,
        /// As this server wrote it.
        verbatim: Option<&'a str>,
    },
    /// With the ids that the calls have here, where they are not their own.
    Answers(&'a [(ToolCall, Answer)], Option<Vec<String>>),
}

/// The messages. Where a call of a message has no id, one that an earlier call has, or one that the provider does not take,
/// the calls of the message get ids by their places, and so do their answers; but not where no call has one and the provider,
/// Gemini, matches answers by their order then. An answer without words and calls goes to the server alone that wrote it.
pub(super) fn parts<'a>(
    provider: Provider,
    origin: &'a str,
    request: &ModelRequest<'a>,
) -> impl Iterator<Item = Part<'a>> {
    parts_by(provider, origin, request, provider != Provider::Gemini)
}

/// The application's tools and, after them, those that the provider runs itself; among these its search for deferred tools, where
/// there are some.
pub(super) fn tools<'a>(
    provider: Provider,
    request: &ModelRequest<'a>,
) -> Result<Cow<'a, RawValue>, MessageError> {
    let own = request.listing.tools();
    let tools = request.settings.provider_tools.iter();
    let tools = tools.filter(|it| it.provider == provider).map(|it| &*it.definition);
    let mut tools: Vec<&str> = tools.collect();
    tools.extend(
        search(provider).filter(|_| request.listing.has_deferred() && !tools.iter().any(is_search)),
    );
    if tools.is_empty() {
        return Ok(Cow::Borrowed(own));
    }
    let mut text = match is_empty_list(own) {
        true => "[".to_owned(),
        false => own.get()[..own.get().len() - 1].to_owned(),
    };
    for tool in tools {
        text.push_str(if text.len() > 1 { "," } else { "" });
        text.push_str(tool);
    }
    text.push(']');
    RawValue::from_string(text).map(Cow::Owned).map_err(MessageError::NotJson)
}

/// The tool of a provider by which its models search for others.
fn search(provider: Provider) -> Option<&'static str> {
    match provider {
        Provider::Anthropic => {
            Some(r#"{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}"#)
        }
        Provider::OpenAiResponses => Some(r#"{"type":"tool_search"}"#),
        _ => None,
    }
}

fn is_search(definition: &&str) -> bool {
    let tool: Value = serde_json::from_str(definition).unwrap_or_default();
    tool["type"].as_str().is_some_and(|kind| kind.starts_with("tool_search"))
}

/// Whether a listing's tools are none.
pub(super) fn is_empty_list(tools: &RawValue) -> bool {
    // Gemini's list of lists.
    matches!(tools.get(), "[]" | r#"[{"functionDeclarations":[]}]"#)
}

fn parts_by<'a>(
    provider: Provider,
    origin: &'a str,
    request: &ModelRequest<'a>,
    needs_ids: bool,
) -> impl Iterator<Item = Part<'a>> {
    let ModelRequest { history, catalog, .. } = *request;
    let mut ids: Option<Vec<String>> = None;
    let mut taken = Ids { taken: HashSet::new(), form: IdForm::of(provider, origin) };
    // Gemini takes an id of an earlier message again.
    let counts_anew = provider == Provider::Gemini;
    history.iter().enumerate().filter_map(move |(place, message)| match message {
        Message::User { text, attachments, .. } if !attachments.is_empty() => {
            Some(Part::Attached(text, attachments))
        }
        Message::User { text, .. } => (!text.trim().is_empty()).then_some(Part::User(text)),
        Message::Assistant { text, calls, verbatim, .. } => {
            let verbatim = verbatim.as_ref().and_then(|it| it.of(origin));
            if text.trim().is_empty() && calls.is_empty() && verbatim.is_none() {
                return None;
            }
            if counts_anew {
                taken.taken.clear();
            }
            let is_ordered = !needs_ids && calls.iter().all(|call| call.id.is_none());
            ids = if is_ordered { None } else { taken.of(place, calls) };
            // What is not of the chat form has the ids in it.
            let verbatim = verbatim.filter(|_| ids.is_none() || provider == Provider::OpenAiChat);
            let calls = match &ids {
                None => Cow::Borrowed(&**calls),
                Some(ids) => calls.iter().zip(ids).map(|(call, id)| with_id(call, id)).collect(),
            };
            let calls = sendable_calls(calls, catalog);
            Some(Part::Model { text, calls, verbatim })
        }
        Message::ToolResults(answered) => {
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
    media: MediaSupport,
) -> Result<Value, MessageError> {
    listing.tool_results_with(answered, ids, media)
}

/// A message of the user with what belongs to it before its text.
pub(super) fn attached(
    provider: Provider,
    text: &str,
    attachments: &[Content<'static>],
    media: MediaSupport,
) -> Value {
    let text = Content::text(text);
    provider.user_message(attachments.iter().chain([&text]), media)
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

/// The ids of the calls so far.
struct Ids<'a> {
    taken: HashSet<Cow<'a, str>>,
    form: IdForm,
}

impl<'a> Ids<'a> {
    /// New ids for the calls of a message, where those that they have would be refused.
    fn of(&mut self, place: usize, calls: &'a [ToolCall]) -> Option<Vec<String>> {
        let known = self.taken.len();
        for call in calls {
            let id = call.id.as_deref().filter(|id| self.form.takes(id));
            if let Some(id) = id {
                self.taken.insert(Cow::Borrowed(id));
            }
        }
        if self.taken.len() == known + calls.len() {
            return None;
        }
        let made = (0..calls.len()).map(|index| {
            let mut ids = (0..).map(|time| self.form.id(place, index, time));
            ids.find(|id| self.taken.insert(Cow::Owned(id.clone()))).unwrap_or_default()
        });
        Some(made.collect())
    }
}

/// The ids that a server takes back.
#[derive(Clone, Copy)]
enum IdForm {
    /// Letters, digits, `_` and `-`, and at most so many.
    Plain { longest: usize },
    /// Nine letters and digits, as Mistral requires.
    Nine,
}

impl IdForm {
    fn of(provider: Provider, origin: &str) -> Self {
        let host = origin.split_once('@').map_or("", |(_, place)| place);
        let host = host.split(['/', ':']).next().unwrap_or_default();
        match provider {
            Provider::OpenAiChat if host == "mistral.ai" || host.ends_with(".mistral.ai") => {
                Self::Nine
            }
            Provider::OpenAiChat => Self::Plain { longest: 40 },
            _ => Self::Plain { longest: 64 },
        }
    }

    fn takes(self, id: &str) -> bool {
        let is_of = |others: &[u8]| {
            id.bytes().all(|byte| byte.is_ascii_alphanumeric() || others.contains(&byte))
        };
        match self {
            Self::Plain { longest } => !id.is_empty() && id.len() <= longest && is_of(b"_-"),
            Self::Nine => id.len() == 9 && is_of(b""),
        }
    }

    /// A new id for the call at this place; another each time.
    fn id(self, place: usize, index: usize, time: usize) -> String {
        match self {
            Self::Plain { .. } => format!("call_{place}_{index}{}", "_".repeat(time)),
            Self::Nine => format!("{:09}", (place * 1000 + index + time) % 1_000_000_000),
        }
    }
}

fn with_id(call: &ToolCall, id: &str) -> ToolCall {
    ToolCall { id: Some(id.to_owned()), ..call.clone() }
}
