//! Anthropic Messages: writes the body of a request, and reads a response.

mod found;
mod usage;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolwright::dialect::Listing;
use toolwright::provider::{MediaSupport, MessageError, Provider, ToolCall};

use self::found::Present;
use self::usage::Tokens;
pub(super) use self::usage::usage;
use super::api::RequestTarget;
use super::compaction::without_compactions;
use super::fault::Fault;
use super::parts::{Part, attached, has_refused_name, is_empty_list, known, parts, results, tools};
use crate::history::{Message, Verbatim};
use crate::model::{ModelAnswer, ModelRequest, ModelSettings, Reasoning, StopReason, ToolChoice};

/// The limit on the tokens of an answer, if none is set; the API requires one.
pub(super) const MAX_TOKENS: u32 = 8192;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop_sequences: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
    #[serde(skip_serializing_if = "System::is_empty")]
    system: System<'a>,
    #[serde(skip_serializing_if = "is_empty_list")]
    tools: Cow<'a, RawValue>,
    messages: Vec<Turn<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum System<'a> {
    Text(&'a str),
    Marked([MarkedText<'a>; 1]),
}

#[derive(Serialize)]
struct MarkedText<'a> {
    r#type: &'static str,
    text: &'a str,
    cache_control: CacheControl,
}

/// A mark in a request. The provider caches the request up to this mark.
#[derive(Clone, Copy, Serialize)]
struct CacheControl {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Turn<'a> {
    Text { role: &'static str, content: &'a str },
    Verbatim { role: &'static str, content: Cow<'a, RawValue> },
    Blocks { role: &'static str, content: Vec<Block<'a>> },
    Written(Value),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text { text: &'a str },
    ToolUse { id: String, name: String, input: Box<RawValue> },
}

pub(super) fn body(
    to: &RequestTarget<'_>,
    request: &ModelRequest<'_>,
) -> Result<String, MessageError> {
    let &RequestTarget { model, origin, max_tokens, media, compacts, .. } = to;
    let (listing, settings) = (request.listing, request.settings);
    let (thinking, output_config) = reasoning(settings, || begins_unthought(request, origin));
    let tools = tools(Provider::Anthropic, request)?;
    let present = Present::of(&tools);
    let messages = parts(Provider::Anthropic, origin, request)
        .map(|part| turn(part, (media, compacts), listing, &present))
        .collect::<Result<_, _>>()?;
    // `cache_control` of the body marks the end of its last block, so this mark moves with each request. The mark on
    // the system text does not move, and also covers the tools, which come before that text.
    let cache_control = settings
        .cache
        .as_ref()
        .map(|cache| CacheControl { r#type: "ephemeral", ttl: cache.lasts_long.then_some("1h") });
    let system = match cache_control {
        Some(cache_control) if !request.instructions.is_empty() => System::Marked([MarkedText {
            r#type: "text",
            text: request.instructions,
            cache_control,
        }]),
        _ => System::Text(request.instructions),
    };
    let body = Body {
        model,
        stream: request.listener.is_some(),
        max_tokens: max_tokens.unwrap_or(MAX_TOKENS),
        temperature: settings.temperature,
        top_p: settings.top_p,
        thinking,
        output_config,
        stop_sequences: &settings.stop_words,
        tool_choice: choice(settings, listing),
        cache_control,
        system,
        messages,
        tools,
    };
    serde_json::to_string(&body).map_err(MessageError::NotJson)
}

impl System<'_> {
    fn is_empty(&self) -> bool {
        matches!(self, Self::Text(""))
    }
}

/// Returns how much the model thinks (`thinking`), and with how much effort it answers (`output_config`).
fn reasoning(
    settings: &ModelSettings,
    is_unthought: impl Fn() -> bool,
) -> (Option<Value>, Option<Value>) {
    let (mut thinking, output) = match settings.reasoning {
        None => return (None, None),
        Some(Reasoning::Effort(effort)) => {
            (json!({"type": "adaptive"}), Some(json!({"effort": effort.name()})))
        }
        Some(Reasoning::Tokens(_)) if is_unthought() => return (None, None),
        Some(Reasoning::Tokens(tokens)) => {
            (json!({"type": "enabled", "budget_tokens": tokens}), None)
        }
    };
    if settings.show_reasoning {
        thinking["display"] = "summarized".into();
    }
    (Some(thinking), output)
}

/// Reports whether the request answers calls, and the model's first answer since the user's last message has no
/// thinking of this server at its beginning, for instance because another model wrote it. If a thinking budget is set,
/// the API refuses such a request, so thinking is off until the user's next message.
fn begins_unthought(request: &ModelRequest<'_>, origin: &str) -> bool {
    let turn = since_said(request.history);
    let last = turn.iter().rev().find(|it| !matches!(it, Message::User { .. }));
    if !matches!(last, Some(Message::ToolResults(_))) {
        return false;
    }
    let first = turn.iter().find(|it| matches!(it, Message::Assistant { .. }));
    let Some(Message::Assistant { calls, verbatim, .. }) = first else { return false };
    let blocks = verbatim.as_ref().and_then(|it| it.of(origin));
    let is_sent = |it: &&str| !has_refused_name(Provider::Anthropic, request.listing, calls, it);
    let blocks = blocks.filter(is_sent);
    let blocks: Option<Vec<TextBlock>> = blocks.and_then(|it| serde_json::from_str(it).ok());
    let first = blocks.iter().flatten().find(|block| block.r#type != "compaction");
    !first.is_some_and(|block| matches!(&*block.r#type, "thinking" | "redacted_thinking"))
}

/// Returns the messages from the user's last message on. Messages of the user that follow answers of tools do not count,
/// because they belong to the turn of these answers.
fn since_said(history: &[Message]) -> &[Message] {
    let is_said = |it: &Message| matches!(it, Message::User { .. });
    let begins = |index: &usize| {
        let before = history[..*index].iter().rfind(|it| !is_said(it));
        is_said(&history[*index]) && !matches!(before, Some(Message::ToolResults(_)))
    };
    &history[(0..history.len()).rev().find(begins).unwrap_or_default()..]
}

fn choice(settings: &ModelSettings, listing: &Listing) -> Option<Value> {
    if is_empty_list(listing.tools()) {
        return None;
    }
    let mut choice = match &settings.tool_choice {
        ToolChoice::Auto if !settings.one_call => return None,
        ToolChoice::Auto => json!({"type": "auto"}),
        ToolChoice::None => return Some(json!({"type": "none"})),
        ToolChoice::Required => json!({"type": "any"}),
        ToolChoice::Tool(name) => json!({"type": "tool", "name": listing.shown_name(name)}),
    };
    if settings.one_call {
        choice["disable_parallel_tool_use"] = true.into();
    }
    Some(choice)
}

fn turn<'a>(
    part: Part<'a>,
    (media, compacts): (MediaSupport, bool),
    listing: &Listing,
    present: &Present<'_>,
) -> Result<Turn<'a>, MessageError> {
    Ok(match part {
        Part::User(content) => Turn::Text { role: "user", content },
        Part::Attached(text, with) => {
            Turn::Written(attached(Provider::Anthropic, text, with, media))
        }
        Part::Answers(answered, ids) => {
            Turn::Written(results(listing, answered, ids.as_deref(), media)?)
        }
        Part::Model { text, calls, verbatim } => {
            let role = "assistant";
            let verbatim = verbatim.map(|it| present.without_gone(it)).map(|it| match compacts {
                true => it,
                false => without_compactions(it),
            });
            if let Some(content) = verbatim.and_then(raw) {
                return Ok(Turn::Verbatim { role, content });
            }
            let said = (!text.trim().is_empty()).then_some(Block::Text { text });
            let called = calls.iter().map(|call| used(call, listing));
            let content = said.map(Ok).into_iter().chain(called);
            Turn::Blocks { role, content: content.collect::<Result<_, _>>()? }
        }
    })
}

fn raw(text: Cow<'_, str>) -> Option<Cow<'_, RawValue>> {
    match text {
        Cow::Borrowed(text) => serde_json::from_str(text).ok().map(Cow::Borrowed),
        Cow::Owned(text) => RawValue::from_string(text).ok().map(Cow::Owned),
    }
}

fn used<'a>(call: &ToolCall, listing: &Listing) -> Result<Block<'a>, MessageError> {
    let input =
        RawValue::from_string(call.arguments.trim().to_owned()).map_err(MessageError::NotJson)?;
    Ok(Block::ToolUse {
        id: call.id.clone().unwrap_or_default(),
        name: listing.shown_name(&call.name).into_owned(),
        input,
    })
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    stop_reason: Option<String>,
    #[serde(default, deserialize_with = "known")]
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct TextBlock {
    r#type: String,
    text: Option<String>,
}

pub(super) fn answer(
    text: &str,
    calls: Result<Vec<ToolCall>, MessageError>,
    wrong: impl Fn(&dyn std::fmt::Display) -> Fault,
) -> Result<ModelAnswer, Fault> {
    let response: Response<'_> = serde_json::from_str(text).map_err(|error| wrong(&error))?;
    let content = response.content.ok_or_else(|| wrong(&"it has no `content`"))?;
    let words = words(content);
    let reason = response.stop_reason.as_deref().unwrap_or_default();
    let is_limit = matches!(reason, "max_tokens" | "model_context_window_exceeded");
    let stop = match (&calls, reason) {
        (_, "refusal") => StopReason::Refused,
        (Err(_), _) => StopReason::CutInCall,
        (Ok(calls), "pause_turn") if calls.is_empty() => StopReason::Paused,
        (Ok(_), _) if is_limit => StopReason::CutShort,
        (Ok(_), _) => StopReason::Finished,
    };
    let is_whole = matches!(stop, StopReason::Finished | StopReason::CutShort | StopReason::Paused);
    let calls = if is_whole { calls.unwrap_or_default() } else { Vec::new() };
    let mut answer = ModelAnswer::new(words.join("\n\n"), calls).stopped(stop.clone());
    if let Some(content) = sent_back(content, stop == StopReason::CutShort).filter(|_| is_whole) {
        answer = answer.verbatim(Verbatim::new(Provider::Anthropic.name(), content));
    }
    Ok(match response.usage {
        Some(tokens) => answer.usage(tokens.into()),
        None => answer,
    })
}

/// Returns the content to send back; `None` if nothing remains. Blank texts are left out, because the API refuses them
/// even if it wrote them itself. If the answer was cut off, incomplete blocks are left out as well.
fn sent_back(content: &RawValue, is_cut: bool) -> Option<Cow<'_, str>> {
    let Ok(blocks) = serde_json::from_str::<Vec<&RawValue>>(content.get()) else {
        return (!words(content).concat().trim().is_empty()).then(|| Cow::Borrowed(content.get()));
    };
    let read = blocks.iter().map(|block| serde_json::from_str(block.get()));
    let read: Vec<ReturnedBlock> = read.collect::<Result<_, _>>().ok()?;
    let is_taken = |block: &ReturnedBlock| {
        let is_blank = block.text.as_ref().is_some_and(|text| text.trim().is_empty());
        let is_cut = is_cut && block.is_cut(&read);
        !is_blank && !is_cut
    };
    if read.iter().all(is_taken) {
        return Some(Cow::Borrowed(content.get()));
    }
    let left = blocks.iter().zip(&read).filter(|(_, block)| is_taken(block));
    let left: Vec<&str> = left.map(|(raw, _)| raw.get()).collect();
    (!left.is_empty()).then(|| Cow::Owned(format!("[{}]", left.join(","))))
}

/// The fields of a block that decide whether it can be sent back.
#[derive(Deserialize)]
struct ReturnedBlock {
    r#type: String,
    text: Option<String>,
    signature: Option<String>,
    id: Option<String>,
    tool_use_id: Option<String>,
}

impl ReturnedBlock {
    /// Reports whether the block is incomplete: thinking without its signature, or a call of a provider tool without
    /// its result.
    fn is_cut(&self, all: &[Self]) -> bool {
        match &*self.r#type {
            "thinking" => self.signature.as_deref().unwrap_or_default().is_empty(),
            "server_tool_use" | "mcp_tool_use" => {
                !all.iter().any(|it| it.tool_use_id.is_some() && it.tool_use_id == self.id)
            }
            _ => false,
        }
    }
}

/// Returns the texts of a content, which is a list of blocks, or on some servers one text. Adjacent blocks of text are
/// joined, because the API splits a sentence into blocks where a part of it has citations.
fn words(content: &RawValue) -> Vec<String> {
    if let Ok(text) = serde_json::from_str::<String>(content.get()) {
        return vec![text];
    }
    let blocks: Vec<TextBlock> = serde_json::from_str(content.get()).unwrap_or_default();
    let mut texts = vec![String::new()];
    for block in blocks {
        match (block.text.filter(|_| block.r#type == "text"), texts.last_mut()) {
            (Some(text), Some(last)) => last.push_str(&text),
            _ => texts.push(String::new()),
        }
    }
    texts.retain(|text| !text.is_empty());
    texts
}

#[cfg(test)]
mod tests;
