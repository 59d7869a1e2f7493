//! Gemini's `generateContent`: reads `functionCall` parts, and writes one content with `functionResponse` parts.

use serde_json::{Value, json};

use super::media::{Part, Parts};
use super::node::{Fields, Node};
use super::{AnsweredCall, MessageError, Provider, ToolCall};
use toolwright_core::output::Content;

/// The integer from which on a double does not represent every integer. Gemini's responses use doubles for all numbers.
const EXACT: f64 = 9_007_199_254_740_992.0;

pub(super) fn recognises(root: &Node<'_>) -> bool {
    if let Ok(parts) = root.items("parts") {
        return parts.iter().any(is_own_part);
    }
    root.fields("a content").is_ok_and(|fields| {
        ["candidates", "promptFeedback", "usageMetadata", "parts"].iter().any(|key| fields.has(key))
    }) || is_own_part(root)
}

pub(super) fn tool_calls(root: &Node<'_>) -> Result<Vec<ToolCall>, MessageError> {
    const EXPECTED: &str = "a response, a content, its parts or a part";
    if root.is_array() {
        return calls_in(&root.items(EXPECTED)?, None);
    }
    let fields = root.fields(EXPECTED)?;
    if let Some(candidates) = fields.get("candidates") {
        return calls_of_candidates(&candidates.items("an array of candidates")?);
    }
    if fields.has("parts") {
        return calls_of_content(root, None);
    }
    if is_own_part(root) {
        return calls_in(std::slice::from_ref(root), None);
    }
    // If the prompt was refused, the response has no candidates and so no calls.
    if fields.has("promptFeedback") || fields.has("usageMetadata") {
        return Ok(Vec::new());
    }
    Err(root.shape_error(EXPECTED))
}

pub(super) fn tool_results<'a>(answered: &[AnsweredCall<'a>], parts: &mut Parts<'a>) -> Value {
    let mut written: Vec<Value> = answered.iter().map(|it| response(it, parts)).collect();
    written.append(&mut parts.after());
    json!({"role": "user", "parts": written})
}

/// Returns whether a part has a key that only Gemini uses. Parts of Gemini have no `type`.
fn is_own_part(part: &Node<'_>) -> bool {
    part.fields("a part").is_ok_and(|fields| {
        !fields.has("type")
            && !fields.has("role")
            && (function_call(&fields).is_some()
                // The value of `text` is a string in a message of Gemini, and an object in a response of OpenAI.
                || fields.peek("text").is_some()
                || [
                    "inlineData",
                    "fileData",
                    "executableCode",
                    "codeExecutionResult",
                    "toolCall",
                    "toolResponse",
                    "functionResponse",
                    "thoughtSignature",
                ]
                .iter()
                .any(|key| fields.has(key)))
    })
}

/// Returns the call in a part. In the JSON form of protocol buffers, a key has two valid spellings.
fn function_call<'a>(fields: &Fields<'a>) -> Option<Node<'a>> {
    fields.get("functionCall").or_else(|| fields.get("function_call"))
}

fn calls_of_candidates(candidates: &[Node<'_>]) -> Result<Vec<ToolCall>, MessageError> {
    let mut first = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        let fields = candidate.fields("a candidate")?;
        let stop = fields.peek("finishReason");
        if let Some(reason) = &stop
            && matches!(reason.as_str(), "MALFORMED_FUNCTION_CALL" | "MALFORMED_RESPONSE")
        {
            return Err(fields.require("finishReason", "a reason")?.cut_short(reason));
        }
        // A candidate that was blocked has no content.
        let Some(content) = fields.get("content") else {
            continue;
        };
        let calls = calls_of_content(&content, stop.as_deref())?;
        if calls.is_empty() {
            continue;
        }
        if index > 0 {
            return Err(candidate.several_alternatives());
        }
        first = calls;
    }
    Ok(first)
}

fn calls_of_content(content: &Node<'_>, stop: Option<&str>) -> Result<Vec<ToolCall>, MessageError> {
    match content.fields("a content")?.get("parts") {
        Some(parts) => calls_in(&parts.items("an array of parts")?, stop),
        None => Ok(Vec::new()),
    }
}

fn calls_in(parts: &[Node<'_>], stop: Option<&str>) -> Result<Vec<ToolCall>, MessageError> {
    let mut calls = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let fields = part.fields("a part")?;
        if fields.has("parts") || fields.has("candidates") {
            return Err(part.shape_error("a part"));
        }
        let Some(call) = function_call(&fields) else {
            continue;
        };
        if index + 1 == parts.len()
            && let Some(reason) = stop.filter(|reason| *reason == "MAX_TOKENS")
        {
            return Err(part.cut_short(reason));
        }
        calls.push(read_call(&call)?);
    }
    Ok(calls)
}

fn read_call(call: &Node<'_>) -> Result<ToolCall, MessageError> {
    let fields = call.fields("a call")?;
    if let Some(piece) = fields.get("partialArgs") {
        return Err(piece.shape_error("a whole call, not a piece of a stream"));
    }
    let arguments = match fields.get("args") {
        None => "{}",
        Some(args) if args.is_object() => args.text(),
        Some(args) => return Err(args.shape_error("an object")),
    };
    Ok(ToolCall {
        id: fields.get("id").map(|id| id.string()).transpose()?,
        name: fields.string("name")?,
        arguments: arguments.to_owned(),
    })
}

fn response<'a>(answer: &AnsweredCall<'a>, parts: &mut Parts<'a>) -> Value {
    let mut media = Vec::new();
    let mut said: Vec<Value> = Vec::new();
    for block in answer.content {
        if let Content::Json(json) = block {
            said.push(exact_value(json).unwrap_or_else(|| json.as_ref().into()));
            continue;
        }
        said.push(match parts.of_answer(block, answer.is_error) {
            Part::Words(words) => words.into(),
            Part::Media(found) => {
                media.push(found.json(Provider::Gemini));
                format!("[{}, part {} of this response]", found.describe(), media.len()).into()
            }
        });
    }
    let said = match said.len() {
        0 => "".into(),
        1 => said.remove(0),
        _ => said.into(),
    };
    let key = if answer.is_error { "error" } else { "output" };
    let mut response = json!({"name": answer.name, "response": {key: said}});
    if let Some(id) = answer.id {
        response["id"] = id.into();
    }
    if !media.is_empty() {
        response["parts"] = media.into();
    }
    json!({"functionResponse": response})
}

/// Parses the value; `None` if it contains a number so large that its digits might change. Such a value is sent as
/// text.
fn exact_value(json: &str) -> Option<Value> {
    let value = serde_json::from_str(json).ok()?;
    exact(&value).then_some(value)
}

fn exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|it| it.abs() < EXACT),
        Value::Array(items) => items.iter().all(exact),
        Value::Object(members) => members.values().all(exact),
        _ => true,
    }
}
