//! Gemini `generateContent`: writes the body of a request, and reads a response.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolwright::ErrorClass;
use toolwright::dialect::Listing;
use toolwright::provider::{MediaSupport, MessageError, Provider, ToolCall};

use super::api::RequestTarget;
use super::fault::Fault;
use super::parts::{Part, attached, is_empty_list, known, parts, results, tools};
use crate::history::Verbatim;
use crate::limits::Usage;
use crate::model::{ModelAnswer, ModelRequest, Reasoning, StopReason, ToolChoice};

/// The signature to send with the first call of a message whose own signature is missing, such as a message from
/// another model. Models from Gemini 3 on refuse a call without a signature.
const FOREIGN: &str = "skip_thought_signature_validator";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<SystemText<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Cow<'a, RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<Value>,
    #[serde(skip_serializing_if = "Generation::is_empty")]
    generation_config: Generation<'a>,
    contents: Vec<Turn<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Generation<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop_sequences: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
}

#[derive(Serialize)]
struct SystemText<'a> {
    parts: [TextPart<'a>; 1],
}

#[derive(Serialize)]
struct TextPart<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Turn<'a> {
    Text { role: &'static str, parts: [TextPart<'a>; 1] },
    Verbatim { role: &'static str, parts: Cow<'a, RawValue> },
    Parts { role: &'static str, parts: Vec<WrittenPart<'a>> },
    Written(Value),
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum WrittenPart<'a> {
    Text {
        text: &'a str,
    },
    Call {
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<&'static str>,
        function_call: CalledFunction,
    },
}

#[derive(Serialize)]
struct CalledFunction {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    name: String,
    args: Box<RawValue>,
}

pub(super) fn body(
    to: &RequestTarget<'_>,
    request: &ModelRequest<'_>,
) -> Result<String, MessageError> {
    let &RequestTarget { model, origin, max_tokens: max_output_tokens, media, .. } = to;
    let (listing, settings) = (request.listing, request.settings);
    let contents =
        parts(Provider::Gemini, origin, request).map(|part| turn(part, model, media, listing));
    let mut thinking = settings.reasoning.map(|reasoning| match reasoning {
        Reasoning::Effort(effort) => json!({"thinkingLevel": effort.name().to_uppercase()}),
        Reasoning::Tokens(tokens) => json!({"thinkingBudget": tokens}),
    });
    if settings.show_reasoning {
        thinking.get_or_insert_with(|| json!({}))["includeThoughts"] = true.into();
    }
    let thinking_config = thinking;
    let stop_sequences = &settings.stop_words[..];
    let system = request.instructions;
    let has_tools = !is_empty_list(listing.tools());
    let tools = Some(tools(Provider::Gemini, request)?).filter(|tools| !is_empty_list(tools));
    let body = Body {
        system_instruction: (!system.is_empty()).then(|| said(system)),
        tools,
        tool_config: choice(&settings.tool_choice, listing).filter(|_| has_tools),
        generation_config: Generation {
            max_output_tokens,
            stop_sequences,
            thinking_config,
            temperature: settings.temperature,
            top_p: settings.top_p,
            seed: settings.seed,
        },
        contents: contents.collect::<Result<_, _>>()?,
    };
    serde_json::to_string(&body).map_err(MessageError::NotJson)
}

impl Generation<'_> {
    fn is_empty(&self) -> bool {
        self.max_output_tokens.is_none()
            && self.stop_sequences.is_empty()
            && self.thinking_config.is_none()
            && self.temperature.is_none()
            && self.top_p.is_none()
            && self.seed.is_none()
    }
}

fn said(text: &str) -> SystemText<'_> {
    SystemText { parts: [TextPart { text }] }
}

fn choice(choice: &ToolChoice, listing: &Listing) -> Option<Value> {
    let calling = match choice {
        ToolChoice::Auto => return None,
        ToolChoice::None => json!({"mode": "NONE"}),
        ToolChoice::Required => json!({"mode": "ANY"}),
        ToolChoice::Tool(name) => {
            json!({"mode": "ANY", "allowedFunctionNames": [listing.shown_name(name)]})
        }
    };
    Some(json!({"functionCallingConfig": calling}))
}

fn turn<'a>(
    part: Part<'a>,
    model: &str,
    media: MediaSupport,
    listing: &Listing,
) -> Result<Turn<'a>, MessageError> {
    Ok(match part {
        Part::User(text) => Turn::Text { role: "user", parts: [TextPart { text }] },
        Part::Attached(text, with) => Turn::Written(attached(Provider::Gemini, text, with, media)),
        Part::Answers(answered, ids) => {
            Turn::Written(results(listing, answered, ids.as_deref(), media)?)
        }
        Part::Model { text, calls, verbatim } => {
            let role = "model";
            if let Some(parts) = verbatim.and_then(|it| serde_json::from_str(it).ok()) {
                return Ok(Turn::Verbatim { role, parts });
            }
            let said = (!text.trim().is_empty()).then_some(WrittenPart::Text { text });
            let mut parts: Vec<WrittenPart<'_>> = said.into_iter().collect();
            for (index, call) in calls.iter().enumerate() {
                let is_signed = index == 0 && !is_before_signatures(model);
                parts.push(WrittenPart::Call {
                    thought_signature: is_signed.then_some(FOREIGN),
                    function_call: called(call, listing)?,
                });
            }
            Turn::Parts { role, parts }
        }
    })
}

/// Reports whether a model is older than Gemini 3, or is a Gemma. Such a model needs no signatures, and takes no
/// pictures in the answers of tools.
pub(super) fn is_before_signatures(model: &str) -> bool {
    let model = model.trim_start_matches("models/");
    ["gemini-1", "gemini-2", "gemma"].iter().any(|older| model.starts_with(older))
}

fn called(call: &ToolCall, listing: &Listing) -> Result<CalledFunction, MessageError> {
    let args =
        RawValue::from_string(call.arguments.trim().to_owned()).map_err(MessageError::NotJson)?;
    Ok(CalledFunction {
        id: call.id.clone(),
        name: listing.shown_name(&call.name).into_owned(),
        args,
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response<'a> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
    prompt_feedback: Option<Feedback>,
    #[serde(default, deserialize_with = "known")]
    usage_metadata: Option<Tokens>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
    finish_reason: Option<String>,
    finish_message: Option<String>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    parts: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ReadPart {
    text: Option<String>,
    #[serde(default)]
    thought: bool,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Tokens {
    prompt_token_count: u64,
    tool_use_prompt_token_count: u64,
    cached_content_token_count: u64,
    candidates_token_count: u64,
    thoughts_token_count: u64,
}

pub(super) fn answer(
    text: &str,
    calls: Result<Vec<ToolCall>, MessageError>,
    wrong: impl Fn(&dyn std::fmt::Display) -> Fault,
) -> Result<ModelAnswer, Fault> {
    let response: Response<'_> = serde_json::from_str(text).map_err(|error| wrong(&error))?;
    let usage = response.usage_metadata.map(Usage::from);
    let candidate = response.candidates.unwrap_or_default().into_iter().next();
    let answer = match candidate {
        Some(candidate) => {
            if let Some(fault) = of_malformed(&candidate) {
                return Err(fault.after_end(usage));
            }
            of_candidate(candidate, calls).map_err(|error| wrong(&error))?
        }
        None => {
            let reason = response.prompt_feedback.and_then(|it| it.block_reason);
            let reason = reason.ok_or_else(|| wrong(&"it has no candidates"))?;
            let words = format!("the prompt was blocked: {reason}");
            ModelAnswer::text(words).stopped(StopReason::Refused)
        }
    };
    Ok(match usage {
        Some(usage) => answer.usage(usage),
        None => answer,
    })
}

/// Finish reasons of an answer whose calls cannot be parsed. A retry may give a better answer.
const MALFORMED: [&str; 4] = [
    "MALFORMED_FUNCTION_CALL",
    "MALFORMED_RESPONSE",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
];

/// Returns the fault of a malformed answer, which the API sends with status 200.
fn of_malformed(candidate: &Candidate<'_>) -> Option<Fault> {
    let reason = candidate.finish_reason.as_deref().unwrap_or_default();
    let said = candidate.finish_message.as_deref().map_or(String::new(), |it| format!(": {it}"));
    if reason == "MISSING_THOUGHT_SIGNATURE" {
        let message = format!(
            "ended its answer with {reason}{said}; begin a new run, or check that the history has what the model wrote"
        );
        return Some(Fault::new("invalid_request", ErrorClass::Final, message));
    }
    MALFORMED.contains(&reason).then(|| {
        let message = format!(
            "ended its answer with {reason}{said}, expected calls of the tools that it was shown; ask again"
        );
        Fault::new("malformed_call", ErrorClass::Transient, message)
    })
}

/// The finish reasons of an answer that the provider withheld or abandoned.
const WITHHELD: [&str; 12] = [
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "IMAGE_OTHER",
    "NO_IMAGE",
];

fn of_candidate(
    candidate: Candidate<'_>,
    calls: Result<Vec<ToolCall>, MessageError>,
) -> serde_json::Result<ModelAnswer> {
    let parts = candidate.content.and_then(|it| it.parts);
    let mut words = match parts {
        Some(parts) => words(parts)?,
        None => String::new(),
    };
    let reason = candidate.finish_reason.unwrap_or_default();
    let stop = match (reason.as_str(), &calls) {
        (_, Err(_)) => StopReason::CutInCall,
        ("MAX_TOKENS", Ok(_)) => StopReason::CutShort,
        // Some servers that imitate the API send `FUNCTION_CALL`.
        ("" | "STOP" | "FINISH_REASON_UNSPECIFIED" | "FUNCTION_CALL", Ok(_)) => {
            StopReason::Finished
        }
        // With an unknown finish reason, a text counts as an answer, but calls do not run.
        (reason, Ok(calls))
            if calls.is_empty() && !words.is_empty() && !WITHHELD.contains(&reason) =>
        {
            tracing::debug!(reason, "an unknown finish reason; the text counts");
            StopReason::Finished
        }
        (_, Ok(_)) => StopReason::Refused,
    };
    if stop == StopReason::Refused && words.is_empty() {
        words = candidate.finish_message.unwrap_or(reason);
    }
    let is_whole = matches!(stop, StopReason::Finished | StopReason::CutShort);
    let calls = if is_whole { calls.unwrap_or_default() } else { Vec::new() };
    let answer = ModelAnswer::new(words, calls).stopped(stop);
    Ok(match parts {
        Some(parts) if is_whole => {
            answer.verbatim(Verbatim::new(Provider::Gemini.name(), parts.get()))
        }
        _ => answer,
    })
}

/// Returns the text of the answer without its thoughts. Adjacent parts of text are joined.
fn words(parts: &RawValue) -> serde_json::Result<String> {
    let parts: Vec<ReadPart> = serde_json::from_str(parts.get())?;
    let mut texts = vec![String::new()];
    for part in parts.into_iter().filter(|part| !part.thought) {
        match (part.text, texts.last_mut()) {
            (Some(text), Some(last)) => last.push_str(&text),
            _ => texts.push(String::new()),
        }
    }
    texts.retain(|text| !text.is_empty());
    Ok(texts.join("\n\n"))
}

pub(super) fn usage(text: &str) -> Option<Usage> {
    serde_json::from_str::<Tokens>(text).ok().map(Usage::from)
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Self {
        let input = tokens.prompt_token_count.saturating_add(tokens.tool_use_prompt_token_count);
        let output = tokens.candidates_token_count.saturating_add(tokens.thoughts_token_count);
        Self::new(input, output)
            .cached(tokens.cached_content_token_count)
            .reasoning(tokens.thoughts_token_count)
    }
}

#[cfg(test)]
mod tests;
