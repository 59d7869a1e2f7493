//! `OpenAI` Responses: writes the body of a request, and reads a response.
//!
//! The server stores nothing, so each request has the whole history. The items of a finished answer are sent back as
//! they came, with two exceptions. Arguments of calls that are no JSON object are repaired. Reasoning is left out if
//! the model does not reason, or if the reasoning has no encrypted content, because only a server that has stored it
//! could look it up. Of an answer that was cut short, only the text and the calls are sent back.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolwright::dialect::Listing;
use toolwright::provider::{MessageError, Provider, ToolCall};

use super::api::RequestTarget;
use super::fault::Fault;
use super::parts::{
    Part, attached, is_empty_list, known, object, parts, results, retention, sendable, tools,
};
use super::strict;
use crate::history::Verbatim;
use crate::limits::Usage;
use crate::model::{ModelAnswer, ModelRequest, OutputFormat, Reasoning, StopReason, ToolChoice};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    include: Option<[&'static str; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_retention: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'a str,
    #[serde(skip_serializing_if = "is_empty_list")]
    tools: Cow<'a, RawValue>,
    input: Vec<Item<'a>>,
}

#[derive(Serialize)]
struct Text<'a> {
    format: Format<'a>,
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    name: &'a str,
    strict: bool,
    schema: Box<RawValue>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Item<'a> {
    Text { role: &'static str, content: &'a str },
    Verbatim(&'a RawValue),
    Call { r#type: &'static str, call_id: String, name: String, arguments: String },
    Written(Value),
}

pub(super) fn body(
    to: &RequestTarget<'_>,
    request: &ModelRequest<'_>,
) -> Result<String, MessageError> {
    let &RequestTarget { model, origin, max_tokens: max_output_tokens, media, .. } = to;
    let (listing, settings) = (request.listing, request.settings);
    let is_reasoning = settings.reasoning.is_some() || reasons(model);
    let mut input = Vec::with_capacity(request.history.len());
    for part in parts(Provider::OpenAiResponses, origin, request) {
        match part {
            Part::User(content) => input.push(Item::Text { role: "user", content }),
            Part::Attached(text, with) => {
                input.push(Item::Written(attached(Provider::OpenAiResponses, text, with, media)));
            }
            Part::Model { text, calls, verbatim } => {
                let items: Option<Vec<&RawValue>> =
                    verbatim.and_then(|it| serde_json::from_str(it).ok());
                if let Some(items) = items {
                    // The reasoning may come from another model of this server, and a model that does not reason
                    // refuses items of reasoning.
                    let taken = items.into_iter().filter(|item| is_reasoning || !is_reasoned(item));
                    input.extend(
                        taken.map(|item| readable(item, request).unwrap_or(Item::Verbatim(item))),
                    );
                    continue;
                }
                if !text.trim().is_empty() {
                    input.push(Item::Text { role: "assistant", content: text });
                }
                input.extend(calls.iter().map(|call| called(call, listing)));
            }
            Part::Answers(answered, ids) => {
                let mut results = results(listing, answered, ids.as_deref(), media)?;
                let results = results.as_array_mut().map(std::mem::take);
                input.extend(results.into_iter().flatten().map(Item::Written));
            }
        }
    }
    let mut reasoning = serde_json::Map::new();
    if let Some(Reasoning::Effort(effort)) = settings.reasoning {
        reasoning.insert("effort".to_owned(), effort.name().into());
    }
    if is_reasoning && settings.show_reasoning {
        reasoning.insert("summary".to_owned(), "auto".into());
    }
    let has_tools = !is_empty_list(listing.tools());
    let body = Body {
        model,
        stream: request.listener.is_some(),
        store: false,
        max_output_tokens,
        temperature: settings.temperature,
        top_p: settings.top_p,
        include: is_reasoning.then_some(["reasoning.encrypted_content"]),
        reasoning: (!reasoning.is_empty()).then(|| reasoning.into()),
        prompt_cache_key: settings.cache.as_ref().and_then(|cache| cache.key.as_deref()),
        prompt_cache_retention: retention(settings),
        text: request.output.and_then(format),
        tool_choice: choice(&settings.tool_choice, listing).filter(|_| has_tools),
        parallel_tool_calls: (has_tools && settings.one_call).then_some(false),
        instructions: request.instructions,
        tools: tools(Provider::OpenAiResponses, request)?,
        input,
    };
    serde_json::to_string(&body).map_err(MessageError::NotJson)
}

/// Reports whether a model reasons by default, judged by its name. Without its reasoning in the history, such a model
/// repeats the reasoning after every call. Other models refuse a request that asks for reasoning.
fn reasons(model: &str) -> bool {
    let generation = |prefix: &str| {
        let digits = model.strip_prefix(prefix)?;
        digits.split(|it: char| !it.is_ascii_digit()).next()?.parse::<u32>().ok()
    };
    let is_chat = model.contains("-chat");
    generation("o").is_some()
        || generation("gpt-").is_some_and(|it| it >= 5 && !is_chat)
        || model.starts_with("codex-")
}

fn is_reasoned(item: &RawValue) -> bool {
    serde_json::from_str::<OutputBlock>(item.get()).is_ok_and(|it| it.r#type == "reasoning")
}

/// Returns a call item with arguments that servers accept; `None` if the arguments are already a JSON object, or the
/// item is not such a call.
fn readable<'a>(item: &RawValue, request: &ModelRequest<'_>) -> Option<Item<'a>> {
    #[derive(Deserialize)]
    struct Call<'a> {
        #[serde(borrow)]
        r#type: Cow<'a, str>,
        #[serde(borrow)]
        name: Cow<'a, str>,
        #[serde(borrow)]
        arguments: Cow<'a, str>,
    }
    let Call { r#type, name, arguments } = serde_json::from_str(item.get()).ok()?;
    // Calls that the provider ran itself are sent back unchanged.
    if r#type != "function_call" || object(&arguments).is_some() {
        return None;
    }
    let (name, arguments) = (name.into_owned(), arguments.into_owned());
    let call = request.listing.received(ToolCall { id: None, name, arguments });
    let mut item: Value = serde_json::from_str(item.get()).ok()?;
    item["arguments"] = sendable(&call.name, &call.arguments, request.catalog).into();
    Some(Item::Written(item))
}

fn called<'a>(call: &ToolCall, listing: &Listing) -> Item<'a> {
    Item::Call {
        r#type: "function_call",
        call_id: call.id.clone().unwrap_or_default(),
        name: listing.shown_name(&call.name).into_owned(),
        arguments: call.arguments.clone(),
    }
}

fn format(format: &OutputFormat) -> Option<Text<'_>> {
    let schema = strict::schema(Provider::OpenAiResponses, format)?;
    let (r#type, name, strict) = ("json_schema", format.name(), true);
    Some(Text { format: Format { r#type, name, strict, schema } })
}

fn choice(choice: &ToolChoice, listing: &Listing) -> Option<Value> {
    Some(match choice {
        ToolChoice::Auto => return None,
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Tool(name) => json!({"type": "function", "name": listing.shown_name(name)}),
    })
}

#[derive(Deserialize)]
struct Response<'a> {
    status: Option<String>,
    error: Option<Failure>,
    incomplete_details: Option<Incomplete>,
    #[serde(borrow)]
    output: Option<Vec<&'a RawValue>>,
    #[serde(default, deserialize_with = "known")]
    usage: Option<Tokens>,
}

#[derive(Default, Deserialize)]
struct Failure {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
struct Incomplete {
    reason: Option<String>,
}

#[derive(Deserialize)]
struct OutputBlock {
    r#type: String,
    encrypted_content: Option<String>,
    #[serde(default)]
    content: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input_tokens: u64,
    input_tokens_details: Option<InputDetails>,
    output_tokens: u64,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Deserialize)]
struct InputDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct OutputDetails {
    reasoning_tokens: Option<u64>,
}

pub(super) fn answer(
    text: &str,
    calls: Result<Vec<ToolCall>, MessageError>,
    wrong: impl Fn(&dyn std::fmt::Display) -> Fault,
) -> Result<ModelAnswer, Fault> {
    let response: Response<'_> = serde_json::from_str(text).map_err(|error| wrong(&error))?;
    if response.status.as_deref() == Some("failed") {
        let failure = response.error.unwrap_or_default();
        return Err(Fault::of_failed_response(&failure.code, &failure.message));
    }
    let output = response.output.ok_or_else(|| wrong(&"it has no `output`"))?;
    let items = output.iter().map(|item| Ok((*item, serde_json::from_str(item.get())?)));
    let items: Vec<(&RawValue, OutputBlock)> =
        items.collect::<serde_json::Result<_>>().map_err(|error| wrong(&error))?;
    let (mut words, mut is_refusal) = (Vec::new(), false);
    for (_, item) in items.iter().filter(|(_, item)| item.r#type == "message") {
        for part in item.content.as_array().into_iter().flatten() {
            is_refusal |= part["type"] == "refusal";
            words.extend(part["text"].as_str().or_else(|| part["refusal"].as_str()));
        }
    }
    let reason = response.incomplete_details.and_then(|it| it.reason);
    let is_incomplete = response.status.as_deref() == Some("incomplete");
    let stop = match &calls {
        _ if is_refusal || reason.as_deref() == Some("content_filter") => StopReason::Refused,
        Err(_) => StopReason::CutInCall,
        Ok(_) if is_incomplete => StopReason::CutShort,
        Ok(_) => StopReason::Finished,
    };
    let is_whole = matches!(stop, StopReason::Finished | StopReason::CutShort);
    let calls = if is_whole { calls.unwrap_or_default() } else { Vec::new() };
    let mut answer = ModelAnswer::new(words.join("\n\n"), calls).stopped(stop);
    if answer.stop == StopReason::Finished {
        let is_sent =
            |item: &OutputBlock| item.r#type != "reasoning" || item.encrypted_content.is_some();
        let sent = items.iter().filter(|(_, item)| is_sent(item)).map(|(raw, _)| raw.get());
        let sent = format!("[{}]", sent.collect::<Vec<_>>().join(","));
        answer = answer.verbatim(Verbatim::new(Provider::OpenAiResponses.name(), sent));
    }
    Ok(match response.usage {
        Some(tokens) => answer.usage(tokens.into()),
        None => answer,
    })
}

pub(super) fn usage(text: &str) -> Option<Usage> {
    serde_json::from_str::<Tokens>(text).ok().map(Usage::from)
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Self {
        let details = tokens.input_tokens_details.as_ref();
        let cached = details.and_then(|it| it.cached_tokens);
        let written = details.and_then(|it| it.cache_write_tokens);
        let reasoning = tokens.output_tokens_details.and_then(|it| it.reasoning_tokens);
        Self::new(tokens.input_tokens, tokens.output_tokens)
            .cached(cached.unwrap_or_default())
            .cache_write(written.unwrap_or_default())
            .reasoning(reasoning.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
