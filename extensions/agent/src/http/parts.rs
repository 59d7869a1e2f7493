//! Brings a history into a form that its provider accepts: no message is empty, the arguments of each call are a JSON
//! object, and no two calls of a message have the same id.

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

/// One message of a history, in a form from which the bodies for all APIs are written.
pub(super) enum Part<'a> {
    User(&'a str),
    /// A text with its attachments.
    Attached(&'a str, &'a [Content<'static>]),
    Model {
        text: &'a str,
        calls: Cow<'a, [ToolCall]>,
        /// The content of the message exactly as this server wrote it before.
        verbatim: Option<&'a str>,
    },
    /// The answers to calls, and the new ids of these calls if their ids were replaced.
    Answers(&'a [(ToolCall, Answer)], Option<Vec<String>>),
}

/// Lists the messages. If a call has no id, the id of an earlier call, or an id that the provider does not accept, all
/// calls of its message and their answers get new ids. Gemini is an exception: it accepts the id of a call of an
/// earlier message. If no call of a message has an id, none is added, because Gemini then matches answers by their
/// order. A message of the model without text and calls is sent only to the server that wrote it.
pub(super) fn parts<'a>(
    provider: Provider,
    origin: &'a str,
    request: &ModelRequest<'a>,
) -> impl Iterator<Item = Part<'a>> {
    parts_by(provider, origin, request, provider != Provider::Gemini)
}

/// Lists the application's tools and then the provider's own tools, including the provider's search if the catalog has
/// deferred tools.
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

/// Returns the name of the provider's tool by which its models search for other tools.
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

pub(super) fn is_empty_list(tools: &RawValue) -> bool {
    // The tools of Gemini are a list of lists.
    matches!(tools.get(), "[]" | r#"[{"functionDeclarations":[]}]"#)
}

fn parts_by<'a>(
    provider: Provider,
    origin: &'a str,
    request: &ModelRequest<'a>,
    needs_ids: bool,
) -> impl Iterator<Item = Part<'a>> {
    let ModelRequest { history, listing, catalog, .. } = *request;
    let mut ids: Option<Vec<String>> = None;
    let mut taken = Ids { taken: HashSet::new(), form: IdForm::of(provider, origin) };
    // Gemini accepts the same id in several messages.
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
            // Verbatim content contains the old ids and names, except on the chat API, so it is left out if they are
            // replaced.
            let verbatim = verbatim.filter(|verbatim| {
                provider == Provider::OpenAiChat
                    || (ids.is_none() && !has_refused_name(provider, listing, calls, verbatim))
            });
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

/// Reports whether a call in verbatim content has a name that the provider refuses, although one of its models wrote it.
pub(super) fn has_refused_name(
    provider: Provider,
    listing: &Listing,
    calls: &[ToolCall],
    verbatim: &str,
) -> bool {
    let is_refused = |call: &ToolCall| listing.shown_name(&call.name) != call.name;
    // The calls have the application's names, so only a name that models see otherwise needs a closer look.
    if !calls.iter().any(is_refused) {
        return false;
    }
    provider.tool_calls(verbatim).is_ok_and(|written| written.iter().any(is_refused))
}

/// Writes the message or messages that send answers back, with the ids that their calls have in this request.
pub(super) fn results(
    listing: &Listing,
    answered: &[(ToolCall, Answer)],
    ids: Option<&[String]>,
    media: MediaSupport,
) -> Result<Value, MessageError> {
    listing.tool_results_with(answered, ids, media)
}

/// Writes a message of the user with its attachments before its text.
pub(super) fn attached(
    provider: Provider,
    text: &str,
    attachments: &[Content<'static>],
    media: MediaSupport,
) -> Value {
    let text = Content::text(text);
    provider.user_message(attachments.iter().chain([&text]), media)
}

/// Returns how long `OpenAI` caches a request, if the settings want longer than the default.
pub(super) fn retention(settings: &ModelSettings) -> Option<&'static str> {
    settings.cache.as_ref().is_some_and(|cache| cache.lasts_long).then_some("24h")
}

/// Reads a value. A value of an unexpected form, such as a negative number of tokens, counts as missing.
pub(super) fn known<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).ok())
}

/// The ids that the calls of earlier messages have, and the form of ids that the server requires.
struct Ids<'a> {
    taken: HashSet<Cow<'a, str>>,
    form: IdForm,
}

impl<'a> Ids<'a> {
    /// Makes new ids for the calls of a message; `None` if the server accepts their present ids.
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

/// The form of call ids that a server accepts.
#[derive(Clone, Copy)]
enum IdForm {
    /// Letters, digits, `_` and `-`, up to a maximum length.
    Plain { longest: usize },
    /// Exactly nine letters or digits, as Mistral requires.
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

    /// Makes a new id for the call at this position. Each `time` gives another id.
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
