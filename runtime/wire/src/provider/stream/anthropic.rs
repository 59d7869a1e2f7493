//! The stream of Anthropic's Messages API: blocks begin, grow and end, one after another or interleaved.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::begun::BegunCalls;
use super::{StreamError, StreamEvent, embed, kind_of, may_follow, parse, quote};
use crate::provider::ToolCall;

/// The kinds of events that change the message.
const KNOWN: [&str; 6] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
];

#[derive(Debug, Default)]
pub(super) struct Assembly {
    message: Option<Map<String, Value>>,
    blocks: BTreeMap<u64, Block>,
    begun: BegunCalls,
    is_done: bool,
}

#[derive(Debug)]
struct Block {
    /// The block from its first event, without the member that later events extend.
    start: Map<String, Value>,
    /// The member that later events extend: text, thinking, or the JSON of an input.
    grown: String,
    signature: String,
    citations: Vec<Value>,
    is_open: bool,
}

/// An event of a known kind.
#[derive(Deserialize)]
struct Event<'a> {
    index: Option<u64>,
    message: Option<Map<String, Value>>,
    #[serde(borrow)]
    content_block: Option<&'a RawValue>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    r#type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    thinking: Option<Cow<'a, str>>,
    #[serde(borrow)]
    signature: Option<Cow<'a, str>>,
    #[serde(borrow)]
    partial_json: Option<Cow<'a, str>>,
    /// The provider's summary of the context that it compacted.
    content: Option<Value>,
    encrypted_content: Option<Value>,
    citation: Option<Value>,
    stop_reason: Option<Value>,
    stop_sequence: Option<Value>,
}

/// The input of a call, exactly as the model wrote it.
#[derive(Deserialize)]
struct Input<'a> {
    #[serde(borrow)]
    input: &'a RawValue,
}

impl Assembly {
    pub(super) fn push(
        &mut self,
        data: &str,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), StreamError> {
        if self.is_done && may_follow(data) {
            return Ok(());
        }
        // Only the kind is read here, because an unknown event may have members of any form.
        let kind = kind_of(data)?;
        if self.is_done {
            return Err(StreamError::order(format!("found {kind}"), "nothing more"));
        }
        match &*kind {
            "ping" => return Ok(()),
            "error" => return Err(StreamError::Provider { body: data.to_owned() }),
            kind if KNOWN.contains(&kind) => {}
            kind => {
                events.push(StreamEvent::Unknown { kind: kind.to_owned() });
                return Ok(());
            }
        }
        let event: Event<'_> = parse(data)?;
        let is_first = self.message.is_none();
        match &*kind {
            "message_start" if is_first => self.message = Some(event.message.unwrap_or_default()),
            kind if is_first == (kind != "message_start") => {
                return Err(StreamError::order(
                    format!("found {kind}"),
                    "one `message_start` at first",
                ));
            }
            "content_block_start" => events.extend(self.begin(&event)?),
            "content_block_delta" => {
                let Some(delta) = event.delta else { return Ok(()) };
                let index = event.index.unwrap_or_default();
                let Some(block) = self.blocks.get_mut(&index).filter(|block| block.is_open) else {
                    return Err(not_open(index));
                };
                events.extend(block.grow(self.begun.grow(index)?, delta));
            }
            "content_block_stop" => {
                let index = event.index.unwrap_or_default();
                let Some(block) = self.blocks.get_mut(&index).filter(|block| block.is_open) else {
                    return Err(not_open(index));
                };
                block.is_open = false;
                let call = block.call();
                let place = self.begun.end(index)?;
                events
                    .extend(place.zip(call).map(|(index, call)| StreamEvent::Call { index, call }));
            }
            "message_delta" => self.change(event),
            "message_stop" => match self.blocks.iter().find(|(_, block)| block.is_open) {
                Some((index, _)) => {
                    let found = format!("found message_stop while block {index} is open");
                    return Err(StreamError::order(found, "its end"));
                }
                None => self.is_done = true,
            },
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, event: &Event<'_>) -> Result<Option<StreamEvent>, StreamError> {
        let index = event.index.unwrap_or_default();
        let raw = event.content_block.map_or("{}", RawValue::get);
        let mut start: Map<String, Value> = parse(raw)?;
        let kind = grown_key(start.get("type").and_then(Value::as_str).unwrap_or_default());
        let grown = match kind.and_then(|key| start.remove(key)) {
            Some(Value::String(text)) => text,
            // The first event contains the complete input of this call. Usually the input is empty there.
            Some(Value::Object(input)) if !input.is_empty() => {
                let whole: Input<'_> = parse(raw)?;
                whole.input.get().to_owned()
            }
            _ => String::new(),
        };
        let block =
            Block { start, grown, signature: String::new(), citations: Vec::new(), is_open: true };
        let is_call = block.of("type") == "tool_use";
        let is_foreign = matches!(block.of("type"), "server_tool_use" | "mcp_tool_use");
        let name = block.of("name").to_owned();
        if self.blocks.insert(index, block).is_some() {
            return Err(StreamError::order(format!("block {index} begins twice"), "another index"));
        }
        if !is_call {
            return Ok(is_foreign.then_some(StreamEvent::ProviderTool { name }));
        }
        let index = self.begun.begin(index)?;
        Ok(Some(StreamEvent::CallBegan { index, name }))
    }

    pub(super) fn usage(&self) -> Option<String> {
        Some(self.message.as_ref()?.get("usage")?.to_string())
    }

    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    fn change(&mut self, event: Event<'_>) {
        let Some(message) = &mut self.message else { return };
        if let Some(delta) = event.delta {
            message.extend(delta.stop_reason.map(|reason| ("stop_reason".to_owned(), reason)));
            message.extend(delta.stop_sequence.map(|it| ("stop_sequence".to_owned(), it)));
        }
        match event.usage {
            Some(Value::Object(usage)) => {
                let known = message.entry("usage").or_insert_with(|| Value::Object(Map::new()));
                if let Value::Object(known) = known {
                    known.extend(usage.into_iter().filter(|(_, tokens)| !tokens.is_null()));
                }
            }
            Some(Value::Null) | None => {}
            // Token counts in another form are passed on unchanged.
            Some(usage) => message.extend([("usage".to_owned(), usage)]),
        }
    }

    pub(super) fn message(self) -> Option<String> {
        let mut message = self.message.filter(|_| self.is_done)?;
        message.remove("content");
        let mut text = String::from("{");
        for (key, value) in &message {
            text.push_str(&format!("{}:{value},", quote(key)));
        }
        let blocks: Vec<String> = self.blocks.values().map(Block::text).collect();
        text.push_str(&format!("\"content\":[{}]}}", blocks.join(",")));
        Some(text)
    }
}

impl Block {
    /// Appends a delta to the block. `place` is the index of the call, if the block is a call.
    fn grow(&mut self, place: Option<usize>, delta: Delta<'_>) -> Option<StreamEvent> {
        match delta {
            Delta { text: Some(text), .. } => {
                self.grown.push_str(&text);
                (!text.is_empty()).then(|| StreamEvent::Text(text.into_owned()))
            }
            Delta { thinking: Some(text), .. } => {
                self.grown.push_str(&text);
                (!text.is_empty()).then(|| StreamEvent::Reasoning(text.into_owned()))
            }
            Delta { partial_json: Some(json), .. } => {
                self.grown.push_str(&json);
                let delta = json.into_owned();
                let index = place.filter(|_| !delta.is_empty())?;
                Some(StreamEvent::Arguments { index, delta })
            }
            Delta { content, encrypted_content, .. } if self.of("type") == "compaction" => {
                self.grown.push_str(content.as_ref().and_then(Value::as_str).unwrap_or_default());
                if let Some(encrypted) = encrypted_content.filter(|it| !it.is_null()) {
                    self.start.insert("encrypted_content".to_owned(), encrypted);
                }
                None
            }
            Delta { signature: Some(signature), .. } => {
                self.signature.push_str(&signature);
                None
            }
            Delta { citation: Some(citation), .. } => {
                self.citations.push(citation);
                None
            }
            Delta { r#type, .. } => {
                Some(StreamEvent::Unknown { kind: r#type.unwrap_or_default().into_owned() })
            }
        }
    }

    fn of(&self, key: &str) -> &str {
        self.start.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    fn call(&self) -> Option<ToolCall> {
        let is_whole = self.grown.is_empty()
            || serde_json::from_str::<Map<String, Value>>(&self.grown).is_ok();
        (self.of("type") == "tool_use" && is_whole).then(|| ToolCall {
            id: Some(self.of("id").to_owned()),
            name: self.of("name").to_owned(),
            arguments: embed(&self.grown),
        })
    }

    fn text(&self) -> String {
        let mut members: Vec<String> =
            self.start.iter().map(|(key, value)| format!("{}:{value}", quote(key))).collect();
        match grown_key(self.of("type")) {
            // The server could not compact the context, which it reports as `null`.
            Some("content") if self.grown.is_empty() => members.push("\"content\":null".to_owned()),
            Some("input") => members.push(format!("\"input\":{}", embed(&self.grown))),
            Some(key) => members.push(format!("\"{key}\":{}", quote(&self.grown))),
            None => {}
        }
        if !self.signature.is_empty() {
            members.retain(|member| !member.starts_with("\"signature\":"));
            members.push(format!("\"signature\":{}", quote(&self.signature)));
        }
        if !self.citations.is_empty() {
            members.retain(|member| !member.starts_with("\"citations\":"));
            members.push(format!("\"citations\":{}", Value::from(self.citations.clone())));
        }
        format!("{{{}}}", members.join(","))
    }
}

/// Returns the key of the member that grows in a block of this kind.
fn grown_key(kind: &str) -> Option<&'static str> {
    match kind {
        "text" => Some("text"),
        "thinking" => Some("thinking"),
        "compaction" => Some("content"),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => Some("input"),
        _ => None,
    }
}

fn not_open(index: u64) -> StreamError {
    StreamError::order(format!("something of block {index}, which is not open"), "its begin before")
}
