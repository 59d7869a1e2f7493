//! `OpenAI`'s Responses API: reads `function_call` items, and writes one `function_call_output` item for each call.

use serde_json::{Value, json};

use super::media::{Part, Parts};
use super::node::{Fields, Node};
use super::{AnsweredCall, MessageError, Provider, ToolCall};

pub(super) fn recognises(root: &Node<'_>) -> bool {
    if let Ok(items) = root.items("items") {
        return items.iter().any(is_own_item);
    }
    let Ok(fields) = root.fields("a response") else {
        return false;
    };
    fields.peek("object").as_deref() == Some("response")
        || fields.get("output").is_some_and(|output| output.is_array())
        || is_own_item(root)
}

pub(super) fn tool_calls(root: &Node<'_>) -> Result<Vec<ToolCall>, MessageError> {
    const EXPECTED: &str = "a response, its output or an item";
    if root.is_array() {
        return calls_in(&root.items(EXPECTED)?);
    }
    let fields = root.fields(EXPECTED)?;
    let is_response = fields.peek("object").as_deref() == Some("response");
    if is_response || fields.has("output") && !fields.has("type") {
        let output = fields.require("output", "an array of items")?;
        return calls_in(&output.items("an array of items")?);
    }
    if is_own_item(root) || fields.peek("type").as_deref() == Some("message") {
        return calls_in(std::slice::from_ref(root));
    }
    Err(root.shape_error(EXPECTED))
}

pub(super) fn tool_results<'a>(
    answered: &[AnsweredCall<'a>],
    parts: &mut Parts<'a>,
) -> Result<Value, MessageError> {
    let items = answered.iter().enumerate().map(|(index, answer)| {
        let id = answer.required_id(Provider::OpenAiResponses, index)?;
        Ok(json!({"type": "function_call_output", "call_id": id, "output": output(answer, parts)}))
    });
    let mut items = items.collect::<Result<Vec<_>, MessageError>>()?;
    let after = parts.after();
    if !after.is_empty() {
        items.push(json!({"role": "user", "content": after}));
    }
    Ok(items.into())
}

/// Returns whether an item has a type that only this API uses.
fn is_own_item(item: &Node<'_>) -> bool {
    let Ok(fields) = item.fields("an item") else {
        return false;
    };
    let Some(tag) = fields.peek("type") else {
        return false;
    };
    match tag.as_str() {
        "message" => fields
            .get("content")
            .and_then(|content| content.items("parts").ok())
            .is_some_and(|parts| parts.iter().any(is_own_part)),
        "reasoning" | "compaction" | "mcp_list_tools" | "mcp_approval_request" => true,
        tag => tag.ends_with("_call") || tag.ends_with("_call_output"),
    }
}

fn is_own_part(part: &Node<'_>) -> bool {
    let tag = part.fields("a part").ok().and_then(|it| it.peek("type"));
    matches!(tag.as_deref(), Some("output_text" | "refusal" | "input_text"))
}

fn calls_in(items: &[Node<'_>]) -> Result<Vec<ToolCall>, MessageError> {
    let mut calls = Vec::new();
    for item in items {
        let fields = item.fields("an item")?;
        let tag = fields.string("type")?;
        if tag != "function_call" {
            if awaits_client(&tag, &fields) {
                let id = fields.peek("call_id").or_else(|| fields.peek("id"));
                return Err(item.kind_error(id, &tag));
            }
            continue;
        }
        if let Some(status) = fields
            .peek("status")
            .filter(|status| matches!(status.as_str(), "incomplete" | "in_progress"))
        {
            return Err(item.cut_short(&status));
        }
        calls.push(ToolCall {
            id: Some(fields.string("call_id")?),
            name: fields.string("name")?,
            arguments: fields.string("arguments")?,
        });
    }
    Ok(calls)
}

/// Returns whether the client has to answer an item that is not a function call. If such an item were skipped, a call
/// would remain without an answer.
fn awaits_client(tag: &str, fields: &Fields<'_>) -> bool {
    match tag {
        "custom_tool_call"
        | "computer_call"
        | "local_shell_call"
        | "apply_patch_call"
        | "mcp_approval_request" => true,
        "shell_call" => fields
            .get("environment")
            .and_then(|environment| environment.fields("an environment").ok())
            .is_none_or(|environment| environment.peek("type").as_deref() == Some("local")),
        "tool_search_call" => fields.peek("execution").as_deref() == Some("client"),
        _ => false,
    }
}

/// Writes a single text as a string, and other content as parts.
fn output<'a>(answer: &AnsweredCall<'a>, parts: &mut Parts<'a>) -> Value {
    let blocks = answer.content.iter().map(|block| parts.of_answer(block, answer.is_error));
    let blocks: Vec<Part<'_>> = blocks.collect();
    match &blocks[..] {
        [] => "".into(),
        [Part::Words(words)] => words.as_ref().into(),
        blocks => blocks.iter().map(|it| it.json(Provider::OpenAiResponses)).collect(),
    }
}
