//! `OpenAI` Chat Completions: writes the body of a request, and reads a response.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolwright::dialect::Listing;
use toolwright::provider::{MessageError, Provider, ToolCall};

use super::api::RequestTarget;
use super::fault::Fault;
use super::parts::{Part, attached, is_empty_list, known, parts, results, retention, tools};
use super::strict;
use crate::history::Verbatim;
use crate::limits::Usage;
use crate::model::{ModelAnswer, ModelRequest, OutputFormat, Reasoning, StopReason, ToolChoice};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    /// The token limit under its old name, for servers that do not know `max_completion_tokens`.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_retention: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "is_empty_list")]
    tools: Cow<'a, RawValue>,
    messages: Vec<Turn<'a>>,
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    r#type: &'static str,
    json_schema: JsonSchema<'a>,
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    strict: bool,
    schema: Box<RawValue>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Turn<'a> {
    Text {
        role: &'static str,
        content: &'a str,
    },
    Calls {
        role: &'static str,
        content: Option<&'a str>,
        #[serde(flatten)]
        reasoned: ReasoningParts<'a>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<CalledFunction>,
    },
    Written(Value),
}

/// Additional fields of servers that imitate the API. These servers may require the fields back: some refuse a history
/// of calls without them.
#[derive(Default, Deserialize, Serialize)]
struct Beside<'a> {
    #[serde(flatten, borrow)]
    reasoned: ReasoningParts<'a>,
    /// The provider's additions, one for each call, such as the signature of a thought of Gemini.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    extra_content: Vec<Option<Value>>,
}

/// The reasoning of a model. Servers send the text under one of two names, and some also send blocks, which may be
/// signed.
#[derive(Default, Deserialize, Serialize)]
struct ReasoningParts<'a> {
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    reasoning: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reasoning_details: Vec<Value>,
}

#[derive(Serialize)]
struct CalledFunction {
    id: String,
    r#type: &'static str,
    function: Function,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<Value>,
}

#[derive(Serialize)]
struct Function {
    name: String,
    arguments: String,
}

pub(super) fn body(
    to: &RequestTarget<'_>,
    request: &ModelRequest<'_>,
) -> Result<String, MessageError> {
    let &RequestTarget { model, origin, max_tokens, media, knows_max_tokens_alone, .. } = to;
    let (listing, settings) = (request.listing, request.settings);
    let mut messages = Vec::with_capacity(request.history.len() + 1);
    if !request.instructions.is_empty() {
        messages.push(Turn::Text { role: "system", content: request.instructions });
    }
    for part in parts(Provider::OpenAiChat, origin, request) {
        match part {
            Part::User(content) => messages.push(Turn::Text { role: "user", content }),
            Part::Attached(text, with) => {
                messages.push(Turn::Written(attached(Provider::OpenAiChat, text, with, media)));
            }
            Part::Model { text, calls, verbatim } => {
                let beside = verbatim.and_then(|it| serde_json::from_str(it).ok());
                let Beside { reasoned, extra_content } = beside.unwrap_or_default();
                let extras = extra_content.into_iter().chain(std::iter::repeat(None));
                let calls = calls.iter().zip(extras);
                messages.push(Turn::Calls {
                    role: "assistant",
                    content: (!text.is_empty()).then_some(text),
                    reasoned,
                    tool_calls: calls.map(|(call, extra)| called(call, extra, listing)).collect(),
                });
            }
            Part::Answers(answered, ids) => {
                let mut results = results(listing, answered, ids.as_deref(), media)?;
                let results = results.as_array_mut().map(std::mem::take);
                messages.extend(results.into_iter().flatten().map(Turn::Written));
            }
        }
    }
    let has_tools = !is_empty_list(listing.tools());
    let body = Body {
        model,
        stream: request.listener.is_some(),
        // The usage comes in a chunk after the answer, and only if the request asks for it.
        stream_options: request.listener.map(|_| json!({"include_usage": true})),
        max_completion_tokens: max_tokens.filter(|_| !knows_max_tokens_alone),
        max_tokens: max_tokens.filter(|_| knows_max_tokens_alone),
        temperature: settings.temperature,
        top_p: settings.top_p,
        seed: settings.seed,
        reasoning_effort: match settings.reasoning {
            Some(Reasoning::Effort(effort)) => Some(effort.name()),
            _ => None,
        },
        stop: &settings.stop_words,
        prompt_cache_key: settings.cache.as_ref().and_then(|cache| cache.key.as_deref()),
        prompt_cache_retention: retention(settings),
        response_format: request.output.and_then(format),
        tool_choice: choice(&settings.tool_choice, listing).filter(|_| has_tools),
        parallel_tool_calls: (has_tools && settings.one_call).then_some(false),
        tools: tools(Provider::OpenAiChat, request)?,
        messages,
    };
    serde_json::to_string(&body).map_err(MessageError::NotJson)
}

fn format(format: &OutputFormat) -> Option<ResponseFormat<'_>> {
    let schema = strict::schema(Provider::OpenAiChat, format)?;
    let json_schema = JsonSchema { name: format.name(), strict: true, schema };
    Some(ResponseFormat { r#type: "json_schema", json_schema })
}

fn choice(choice: &ToolChoice, listing: &Listing) -> Option<Value> {
    Some(match choice {
        ToolChoice::Auto => return None,
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Tool(name) => {
            json!({"type": "function", "function": {"name": listing.shown_name(name)}})
        }
    })
}

fn called(call: &ToolCall, extra_content: Option<Value>, listing: &Listing) -> CalledFunction {
    CalledFunction {
        id: call.id.clone().unwrap_or_default(),
        r#type: "function",
        function: Function {
            name: listing.shown_name(&call.name).into_owned(),
            arguments: call.arguments.clone(),
        },
        extra_content,
    }
}

#[derive(Deserialize)]
struct Response {
    choices: Option<Vec<Choice>>,
    #[serde(default, deserialize_with = "known")]
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Choice {
    message: Option<AnswerMessage>,
    finish_reason: Option<String>,
    /// The error of the server behind a gateway, which some gateways write here.
    error: Option<Value>,
}

/// The reasons to finish of an answer that the server abandoned.
const ABANDONED: [&str; 3] = ["error", "network_error", "insufficient_system_resource"];

/// The reasons to finish of an answer that reached a limit of tokens.
const LIMITS: [&str; 3] = ["length", "model_length", "model_context_window_exceeded"];

#[derive(Deserialize)]
struct AnswerMessage {
    content: Option<Value>,
    refusal: Option<String>,
    #[serde(default, deserialize_with = "known")]
    reasoning_content: Option<String>,
    #[serde(default, deserialize_with = "known")]
    reasoning: Option<String>,
    #[serde(default, deserialize_with = "known")]
    reasoning_details: Option<Vec<Value>>,
    #[serde(default, deserialize_with = "known")]
    tool_calls: Option<Vec<SaidCall>>,
}

#[derive(Deserialize)]
struct SaidCall {
    extra_content: Option<Value>,
}

impl AnswerMessage {
    /// Returns the fields that the server may require back.
    fn beside(&self) -> Option<String> {
        let reasoned = ReasoningParts {
            reasoning_content: self.reasoning_content.as_deref().map(Cow::Borrowed),
            reasoning: self.reasoning.as_deref().map(Cow::Borrowed),
            reasoning_details: self.reasoning_details.clone().unwrap_or_default(),
        };
        let extras = self.tool_calls.iter().flatten().map(|call| call.extra_content.clone());
        let mut extra_content: Vec<Option<Value>> = extras.collect();
        if extra_content.iter().all(Option::is_none) {
            extra_content.clear();
        }
        let is_any = reasoned.reasoning_content.is_some()
            || reasoned.reasoning.is_some()
            || !reasoned.reasoning_details.is_empty()
            || !extra_content.is_empty();
        is_any.then(|| serde_json::to_string(&Beside { reasoned, extra_content }).ok())?
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tokens {
    prompt_tokens: u64,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens: u64,
    completion_tokens_details: Option<CompletionDetails>,
    #[serde(deserialize_with = "known")]
    total_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

pub(super) fn answer(
    text: &str,
    calls: Result<Vec<ToolCall>, MessageError>,
    wrong: impl Fn(&dyn std::fmt::Display) -> Fault,
) -> Result<ModelAnswer, Fault> {
    let response: Response = serde_json::from_str(text).map_err(|error| wrong(&error))?;
    let choice = response.choices.unwrap_or_default().into_iter().next();
    let choice = choice.ok_or_else(|| wrong(&"it has no choices"))?;
    let reason = choice.finish_reason.as_deref().unwrap_or_default();
    if choice.error.is_some() || ABANDONED.contains(&reason) {
        return Err(Fault::of_abandoned(reason, choice.error.as_ref()));
    }
    let said = choice.message.ok_or_else(|| wrong(&"its first choice has no message"))?;
    // Some servers send an empty `refusal` if the model has not refused.
    let refusal = said.refusal.as_deref().filter(|it| !it.is_empty());
    let is_refused = matches!(reason, "content_filter" | "sensitive") || refusal.is_some();
    let stop = match &calls {
        _ if is_refused => StopReason::Refused,
        Err(_) => StopReason::CutInCall,
        Ok(_) if LIMITS.contains(&reason) => StopReason::CutShort,
        Ok(_) => StopReason::Finished,
    };
    let is_whole = matches!(stop, StopReason::Finished | StopReason::CutShort);
    let calls = if is_whole { calls.unwrap_or_default() } else { Vec::new() };
    let beside = said.beside().filter(|_| is_whole);
    let words = refusal.map_or_else(|| words(said.content.as_ref()), str::to_owned);
    let mut answer = ModelAnswer::new(words, calls).stopped(stop);
    if let Some(beside) = beside {
        answer = answer.verbatim(Verbatim::new(Provider::OpenAiChat.name(), beside));
    }
    Ok(match response.usage {
        Some(tokens) => answer.usage(tokens.into()),
        None => answer,
    })
}

/// Returns the text of a content, which is one text, or on some servers a list of parts.
fn words(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n\n")
        }
        _ => String::new(),
    }
}

pub(super) fn usage(text: &str) -> Option<Usage> {
    serde_json::from_str::<Tokens>(text).ok().map(Usage::from)
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Self {
        let details = tokens.prompt_tokens_details.as_ref();
        let cached = details.and_then(|it| it.cached_tokens);
        let written = details.and_then(|it| it.cache_write_tokens);
        let reasoning = tokens.completion_tokens_details.and_then(|it| it.reasoning_tokens);
        // The servers of xAI and Gemini count the reasoning in the total, but not among the tokens of the completion.
        let total = tokens.total_tokens.unwrap_or_default();
        let output = tokens.completion_tokens.max(total.saturating_sub(tokens.prompt_tokens));
        Self::new(tokens.prompt_tokens, output)
            .cached(cached.unwrap_or_default())
            .cache_write(written.unwrap_or_default())
            .reasoning(reasoning.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
