//! `OpenAI`'s Chat Completions API: reads the `tool_calls` of an assistant message, and writes one `tool` message for
//! each call.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::media::{Part, Parts};
use super::node::{Fields, Node};
use super::{AnsweredCall, MessageError, Provider, ToolCall};

/// The reasons to finish after which the last call may be incomplete: a limit of tokens, a filter, or a failure of the
/// server. Servers that imitate the API have reasons of their own.
const CUT_SHORT: &[&str] = &[
    "length",
    "model_length",
    "model_context_window_exceeded",
    "content_filter",
    "sensitive",
    "error",
    "network_error",
    "insufficient_system_resource",
];

/// The reasons to finish after which every call is complete, even one without arguments.
const WHOLE: &[&str] = &["", "stop", "tool_calls", "function_call"];

pub(super) fn recognises(root: &Node<'_>) -> bool {
    if let Ok(calls) = root.items("calls") {
        return calls.iter().any(|call| {
            call.fields("a call").is_ok_and(|fields| is_call(&fields) || fields.has("tool_calls"))
        });
    }
    let Ok(fields) = root.fields("a message") else {
        return false;
    };
    let from_assistant = fields.peek("role").as_deref() == Some("assistant");
    fields.has("choices")
        || fields.has("tool_calls")
        || is_call(&fields)
        || from_assistant
            && (fields.has("function_call")
                || fields.has("refusal")
                || fields.is_null("refusal")
                || fields.is_null("content"))
}

pub(super) fn tool_calls(root: &Node<'_>) -> Result<Vec<ToolCall>, MessageError> {
    const EXPECTED: &str = "a chat completion, an assistant message, its tool_calls or a call";
    if root.is_array() {
        return root.items(EXPECTED)?.iter().map(call).collect();
    }
    let fields = root.fields(EXPECTED)?;
    if let Some(choices) = fields.get("choices") {
        return calls_of_choices(&choices.items("an array of choices")?);
    }
    if is_call(&fields) {
        return Ok(vec![call(root)?]);
    }
    if fields.has("tool_calls") || fields.peek("role").as_deref() == Some("assistant") {
        return calls_of_message(root);
    }
    Err(root.shape_error(EXPECTED))
}

pub(super) fn tool_results<'a>(
    answered: &[AnsweredCall<'a>],
    parts: &mut Parts<'a>,
) -> Result<Value, MessageError> {
    let messages = answered.iter().enumerate().map(|(index, answer)| {
        let id = answer.required_id(Provider::OpenAiChat, index)?;
        Ok(json!({"role": "tool", "tool_call_id": id, "content": content(answer, parts)}))
    });
    let mut messages = messages.collect::<Result<Vec<_>, MessageError>>()?;
    let after = parts.after();
    if !after.is_empty() {
        messages.push(json!({"role": "user", "content": after}));
    }
    Ok(messages.into())
}

fn is_call(fields: &Fields<'_>) -> bool {
    fields.has("function")
        || fields.peek("type").as_deref() == Some("custom") && fields.has("custom")
}

fn calls_of_choices(choices: &[Node<'_>]) -> Result<Vec<ToolCall>, MessageError> {
    let mut first = Vec::new();
    for (index, choice) in choices.iter().enumerate() {
        let fields = choice.fields("a choice")?;
        let message = fields.require("message", "an assistant message")?;
        let calls = calls_of_message(&message)?;
        if calls.is_empty() {
            continue;
        }
        if index > 0 {
            return Err(choice.several_alternatives());
        }
        let reason = fields.peek("finish_reason").unwrap_or_default();
        if calls.last().is_some_and(|last| is_cut_short(last, &reason)) {
            return Err(last_call(&message)?.cut_short(&reason));
        }
        first = calls;
    }
    Ok(first)
}

fn calls_of_message(message: &Node<'_>) -> Result<Vec<ToolCall>, MessageError> {
    let fields = message.fields("an assistant message")?;
    if let Some(legacy) = fields.get("function_call") {
        let name = legacy.fields("a call").ok().and_then(|it| it.peek("name"));
        return Err(legacy.kind_error(name, "function_call of the deprecated form"));
    }
    let Some(calls) = fields.get("tool_calls") else {
        return Ok(Vec::new());
    };
    calls.items("an array of calls")?.iter().map(call).collect()
}

/// Returns whether the last call of an answer may be incomplete. After a reason that is not known, the call counts as
/// complete only if its arguments are, because arguments that have not begun look like those of a call without any.
pub(super) fn is_cut_short(last: &ToolCall, reason: &str) -> bool {
    CUT_SHORT.contains(&reason) || !WHOLE.contains(&reason) && !is_whole(&last.arguments)
}

/// Returns whether the arguments of a call are a complete object, so that no further part of the call can follow.
pub(super) fn is_whole(arguments: &str) -> bool {
    arguments.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(arguments).is_ok()
}

fn last_call<'a>(message: &Node<'a>) -> Result<Node<'a>, MessageError> {
    let calls =
        message.fields("an assistant message")?.require("tool_calls", "an array of calls")?;
    let last = calls.items("an array of calls")?.pop();
    Ok(last.unwrap_or(calls))
}

fn call(node: &Node<'_>) -> Result<ToolCall, MessageError> {
    let fields = node.fields("a call")?;
    match fields.peek("type").as_deref() {
        // Other servers that implement this API omit the type or leave it empty.
        Some("function" | "") | None => {}
        Some("custom") => return Err(node.kind_error(fields.peek("id"), "custom tool call")),
        Some(other) => return Err(node.kind_error(fields.peek("id"), other)),
    }
    let function = fields.require("function", "an object")?.fields("an object")?;
    Ok(ToolCall {
        // Some servers write no id. The code that answers the call makes one up.
        id: match fields.get("id") {
            Some(id) => Some(id.string()?).filter(|id| !id.is_empty()),
            None => None,
        },
        name: function.string("name")?,
        // Some servers write the object itself instead of a string, or nothing for a tool without parameters.
        arguments: match function.get("arguments") {
            Some(arguments) if arguments.is_object() => arguments.text().to_owned(),
            Some(arguments) => arguments.string()?,
            None => "{}".to_owned(),
        },
    })
}

/// Writes the answer as one string, with a line for each block. The API accepts only text here, and some other servers
/// with this API do not accept arrays.
fn content<'a>(answer: &AnsweredCall<'a>, parts: &mut Parts<'a>) -> String {
    let blocks = answer.content.iter().map(|block| parts.of_answer(block, answer.is_error));
    let lines = blocks.map(|block| match block {
        Part::Words(words) => words,
        Part::Media(media) => format!("[{}]", media.describe()).into(),
    });
    lines.collect::<Vec<_>>().join("\n")
}
