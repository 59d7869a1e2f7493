//! Anthropic's Messages API: reads `tool_use` blocks, and writes one user message with `tool_result` blocks.

use serde_json::{Value, json};

use super::media::{Part, Parts};
use super::node::{Fields, Node};
use super::{AnsweredCall, MessageError, Provider, ToolCall};

/// The reasons for stopping that may leave the last block incomplete, so that its input is cut off or empty.
const CUT_SHORT: &[&str] = &["max_tokens", "model_context_window_exceeded", "refusal"];

pub(super) fn recognises(root: &Node<'_>) -> bool {
    if let Ok(blocks) = root.items("blocks") {
        return blocks.iter().any(is_own_block);
    }
    let Ok(fields) = root.fields("a message") else {
        return false;
    };
    let blocks =
        fields.get("content").and_then(|content| content.items("blocks").ok()).unwrap_or_default();
    match fields.peek("type").as_deref() {
        Some("message") => {
            fields.has("stop_reason")
                || blocks.iter().any(is_own_block)
                || blocks.iter().any(|block| tag(block).as_deref() == Some("text"))
        }
        Some("error") => fields.has("error"),
        Some(_) => is_own_block(root),
        None => {
            !fields.has("tool_calls")
                && fields.peek("role").as_deref() == Some("assistant")
                && blocks.iter().any(is_own_block)
        }
    }
}

pub(super) fn tool_calls(root: &Node<'_>) -> Result<Vec<ToolCall>, MessageError> {
    const EXPECTED: &str = "a message, its content or a block";
    if root.is_array() {
        return calls_in(&root.items(EXPECTED)?, None);
    }
    let fields = root.fields(EXPECTED)?;
    let Some(content) = fields.get("content").filter(|_| is_message(&fields)) else {
        if is_own_block(root) || fields.peek("type").as_deref() == Some("text") {
            return calls_in(std::slice::from_ref(root), None);
        }
        return Err(root.shape_error(EXPECTED));
    };
    if content.string().is_ok() {
        return Ok(Vec::new());
    }
    calls_in(
        &content.items("a string or an array of blocks")?,
        fields.peek("stop_reason").as_deref(),
    )
}

pub(super) fn tool_results<'a>(
    answered: &[AnsweredCall<'a>],
    parts: &mut Parts<'a>,
) -> Result<Value, MessageError> {
    let blocks = answered.iter().enumerate().map(|(index, answer)| {
        let id = answer.required_id(Provider::Anthropic, index)?;
        let mut block = json!({"type": "tool_result", "tool_use_id": id});
        if let Some(content) = content(answer, parts) {
            block["content"] = content;
        }
        if answer.is_error {
            block["is_error"] = true.into();
        }
        Ok(block)
    });
    let mut blocks = blocks.collect::<Result<Vec<_>, MessageError>>()?;
    blocks.append(&mut parts.after());
    Ok(json!({"role": "user", "content": blocks}))
}

fn is_message(fields: &Fields<'_>) -> bool {
    fields.peek("type").as_deref() == Some("message")
        || fields.peek("role").as_deref() == Some("assistant")
}

/// Returns whether a block has a type that only Anthropic uses.
fn is_own_block(block: &Node<'_>) -> bool {
    tag(block).is_some_and(|tag| {
        matches!(
            tag.as_str(),
            "tool_use"
                | "tool_result"
                | "server_tool_use"
                | "mcp_tool_use"
                | "thinking"
                | "redacted_thinking"
                | "compaction"
                | "container_upload"
        ) || tag.ends_with("_tool_result")
    })
}

fn tag(block: &Node<'_>) -> Option<String> {
    block.fields("a block").ok()?.peek("type")
}

fn calls_in(blocks: &[Node<'_>], stop: Option<&str>) -> Result<Vec<ToolCall>, MessageError> {
    let mut calls = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let fields = block.fields("a block")?;
        if fields.string("type")? != "tool_use" {
            continue;
        }
        if index + 1 == blocks.len()
            && let Some(reason) = stop.filter(|reason| CUT_SHORT.contains(reason))
        {
            return Err(block.cut_short(reason));
        }
        let input = fields.require("input", "an object")?;
        if !input.is_object() {
            return Err(input.shape_error("an object"));
        }
        calls.push(ToolCall {
            id: Some(fields.string("id")?),
            name: fields.string("name")?,
            arguments: input.text().to_owned(),
        });
    }
    Ok(calls)
}

/// Writes a single text as a string, and other content as blocks; `None` for an empty answer.
fn content<'a>(answer: &AnsweredCall<'a>, parts: &mut Parts<'a>) -> Option<Value> {
    let blocks = answer.content.iter().map(|block| parts.of_answer(block, answer.is_error));
    let mut blocks: Vec<Part<'_>> = blocks.collect();
    if let [Part::Words(words)] = &blocks[..] {
        return Some(words.as_ref()).filter(|words| !words.is_empty()).map(Value::from);
    }
    // The API refuses a block without visible text.
    blocks.retain(|block| !block.is_blank());
    let blocks: Vec<Value> = blocks.iter().map(|it| it.json(Provider::Anthropic)).collect();
    (!blocks.is_empty()).then(|| blocks.into())
}
