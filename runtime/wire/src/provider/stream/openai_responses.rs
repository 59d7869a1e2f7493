//! `OpenAI` Responses: deltas as they come, and the whole response in the last event.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{StreamError, StreamEvent, parsed};
use crate::provider::{Provider, ToolCall};

#[derive(Debug, Default)]
pub(super) struct Assembly {
    response: Option<String>,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    output_index: Option<u64>,
    #[serde(borrow)]
    delta: Option<Cow<'a, str>>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
}

impl Assembly {
    pub(super) fn push(
        &mut self,
        data: &str,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), StreamError> {
        // Servers that imitate the API end as the older one does.
        if data.trim() == "[DONE]" && self.response.is_some() {
            return Ok(());
        }
        let event: Event<'_> = parsed(data)?;
        let kind = &*event.r#type;
        if self.response.is_some() {
            return Err(StreamError::order(format!("found {kind}"), "nothing more"));
        }
        let delta = event.delta.filter(|delta| !delta.is_empty()).map(Cow::into_owned);
        match kind {
            "error" => return Err(StreamError::Provider { body: data.to_owned() }),
            "response.output_text.delta" | "response.refusal.delta" => {
                events.extend(delta.map(StreamEvent::Text));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                events.extend(delta.map(StreamEvent::Reasoning));
            }
            "response.function_call_arguments.delta" => {
                let index = event.output_index.unwrap_or_default();
                events.extend(delta.map(|delta| StreamEvent::Arguments { index, delta }));
            }
            "response.output_item.done" => {
                events.extend(event.item.and_then(call).map(StreamEvent::Call));
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let response = event.response.ok_or_else(|| {
                    StreamError::order(format!("found {kind} without a response"), "one")
                })?;
                self.response = Some(response.get().to_owned());
            }
            kind if is_of_the_whole(kind) => {}
            kind => events.push(StreamEvent::Unknown { kind: kind.to_owned() }),
        }
        Ok(())
    }

    pub(super) fn message(self) -> Option<String> {
        self.response
    }
}

/// Whether an event says nothing that the deltas or the whole response do not say.
fn is_of_the_whole(kind: &str) -> bool {
    let known = ["created", "queued", "in_progress", "output_item.added"];
    let Some(kind) = kind.strip_prefix("response.") else { return false };
    known.contains(&kind)
        || kind.ends_with(".done")
        || kind.ends_with("_part.added")
        || kind.ends_with(".annotation.added")
        || kind.contains("_call.")
}

fn call(item: &RawValue) -> Option<ToolCall> {
    let mut calls = Provider::OpenAiResponses.tool_calls(item.get()).ok()?;
    calls.pop()
}
