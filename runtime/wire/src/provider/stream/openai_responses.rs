//! The stream of `OpenAI`'s Responses API: deltas, and in the last event the whole response.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::begun::BegunCalls;
use super::{StreamError, StreamEvent, kind_of, may_follow, parse};
use crate::provider::{Provider, ToolCall};

#[derive(Debug, Default)]
pub(super) struct Assembly {
    response: Option<String>,
    begun: BegunCalls,
    /// The calls that have ended, each with its index in the answer.
    calls: Vec<(usize, ToolCall)>,
    /// The items that have ended, by their positions in the output.
    items: BTreeMap<u64, String>,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    output_index: Option<&'a RawValue>,
    /// The delta of an event. In all kinds of events that are read here, it is a text.
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
}

/// The members of an item that are needed when it begins.
#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
}

impl Assembly {
    pub(super) fn push(
        &mut self,
        data: &str,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), StreamError> {
        if self.response.is_some() && may_follow(data) {
            return Ok(());
        }
        let kind = kind_of(data)?;
        let kind = &*kind;
        let event: Event<'_> = parse(data)?;
        if self.response.is_some() {
            return Err(StreamError::order(format!("found {kind}"), "nothing more"));
        }
        let delta = || -> Result<Option<String>, StreamError> {
            let text: Option<String> = event.delta.map(|it| parse(it.get())).transpose()?;
            Ok(text.filter(|text| !text.is_empty()))
        };
        let place = || -> Result<u64, StreamError> {
            event.output_index.map_or(Ok(0), |it| parse(it.get()))
        };
        match kind {
            "error" => return Err(StreamError::Provider { body: data.to_owned() }),
            "response.output_text.delta" | "response.refusal.delta" => {
                events.extend(delta()?.map(StreamEvent::Text));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                events.extend(delta()?.map(StreamEvent::Reasoning));
            }
            "response.function_call_arguments.delta" => {
                let Some(delta) = delta()? else { return Ok(()) };
                events.push(match self.begun.grow(place()?)? {
                    Some(index) => StreamEvent::Arguments { index, delta },
                    // A later event contains the complete call.
                    None => StreamEvent::Unknown { kind: format!("{kind} before its item") },
                });
            }
            "response.output_item.added" => {
                let item: Option<Item<'_>> = event.item.map(|it| parse(it.get())).transpose()?;
                match item {
                    Some(Item { kind, name }) if kind == "function_call" => {
                        let index = self.begun.begin(place()?)?;
                        let name = name.unwrap_or_default().into_owned();
                        events.push(StreamEvent::CallBegan { index, name });
                    }
                    Some(Item { kind, .. }) if kind.ends_with("_call") => {
                        let name = kind.trim_end_matches("_call").to_owned();
                        events.push(StreamEvent::ProviderTool { name });
                    }
                    _ => {}
                }
            }
            "response.output_item.done" => {
                if let Some(item) = event.item {
                    self.items.insert(place()?, item.get().to_owned());
                }
                if let Some(call) = event.item.and_then(call) {
                    self.end(place()?, call, events)?;
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let response = event.response.ok_or_else(|| {
                    StreamError::order(format!("found {kind} without a response"), "one")
                })?;
                let response = self.with_output(response);
                self.compare(&response, events)?;
                self.response = Some(response.get().to_owned());
            }
            kind if is_of_the_whole(kind) => {}
            kind => events.push(StreamEvent::Unknown { kind: kind.to_owned() }),
        }
        Ok(())
    }

    fn end(
        &mut self,
        key: u64,
        call: ToolCall,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), StreamError> {
        let index = match self.begun.end(key)? {
            Some(index) => index,
            None => {
                let index = self.begun.begin(key)?;
                self.begun.end(key)?;
                events.push(StreamEvent::CallBegan { index, name: call.name.clone() });
                index
            }
        };
        events.push(StreamEvent::Call { index, call: call.clone() });
        self.calls.push((index, call));
        Ok(())
    }

    /// Returns the whole response. Some servers send it with an empty output, or give the calls in it other ids than in
    /// the stream. Then its output are the items that have ended.
    fn with_output<'r>(&self, response: &'r RawValue) -> Cow<'r, RawValue> {
        let members: Option<BTreeMap<String, &RawValue>> =
            serde_json::from_str(response.get()).ok();
        let Some(mut members) = members.filter(|_| !self.items.is_empty()) else {
            return Cow::Borrowed(response);
        };
        let is_empty = members.get("output").is_none_or(|it| matches!(it.get(), "[]" | "null"));
        let is_replaced =
            is_empty || members.get("output").is_some_and(|output| self.has_other_ids(output));
        let items: Vec<&str> = self.items.values().map(String::as_str).collect();
        let Ok(output) = RawValue::from_string(format!("[{}]", items.join(","))) else {
            return Cow::Borrowed(response);
        };
        members.insert("output".to_owned(), &output);
        match serde_json::value::to_raw_value(&members) {
            Ok(whole) if is_replaced => Cow::Owned(whole),
            _ => Cow::Borrowed(response),
        }
    }

    /// Returns whether an output contains as many items and the same calls as were streamed, but with other ids.
    fn has_other_ids(&self, output: &RawValue) -> bool {
        let items: Vec<&RawValue> = serde_json::from_str(output.get()).unwrap_or_default();
        let calls = Provider::OpenAiResponses.tool_calls(output.get()).unwrap_or_default();
        let is_the_same = |(index, call): &(usize, ToolCall)| {
            calls.get(*index).is_some_and(|other| {
                (&call.name, &call.arguments) == (&other.name, &other.arguments)
            })
        };
        items.len() == self.items.len()
            && calls.len() == self.calls.len()
            && self.calls.iter().all(is_the_same)
            && self.calls.iter().any(|(index, call)| calls.get(*index) != Some(call))
    }

    /// Checks that the whole response contains the streamed calls, and reports the calls that were not streamed.
    fn compare(
        &mut self,
        response: &RawValue,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), StreamError> {
        // Problems of the calls are reported when the whole message is read.
        let Ok(calls) = Provider::OpenAiResponses.tool_calls(response.get()) else { return Ok(()) };
        if let Some((_, call)) =
            self.calls.iter().find(|(index, call)| calls.get(*index) != Some(call))
        {
            let found = format!("the whole response has another call than `{}` there", call.name);
            return Err(StreamError::order(found, "the calls that came"));
        }
        for (index, call) in calls.into_iter().enumerate() {
            if !self.calls.iter().any(|(place, _)| *place == index) {
                if index >= self.begun.count() {
                    events.push(StreamEvent::CallBegan { index, name: call.name.clone() });
                }
                events.push(StreamEvent::Call { index, call });
            }
        }
        Ok(())
    }

    pub(super) fn is_done(&self) -> bool {
        self.response.is_some()
    }

    pub(super) fn message(self) -> Option<String> {
        self.response
    }
}

/// Returns whether an event only repeats what deltas or the whole response contain.
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
