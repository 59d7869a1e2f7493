//! `OpenAI` Chat Completions: chunks, each with more of the text or of the calls.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::begun::Begun;
use super::reasoning_details::ReasoningDetails;
use super::{StreamError, StreamEvent, parsed, quoted};
use crate::provider::ToolCall;

#[derive(Debug, Default)]
pub(super) struct Assembly {
    content: Option<String>,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    reasoning_details: ReasoningDetails,
    calls: BTreeMap<u64, ToolCall>,
    /// What servers other than `OpenAI`'s write beside a call, and want back.
    extras: BTreeMap<u64, Box<RawValue>>,
    begun: Begun,
    finish_reason: Option<String>,
    usage: Option<Box<RawValue>>,
    is_done: bool,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    object: Option<Cow<'a, str>>,
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    #[serde(borrow)]
    finish_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    content: Option<Cow<'a, str>>,
    #[serde(borrow)]
    refusal: Option<Cow<'a, str>>,
    /// Not of `OpenAI`, but of many servers that imitate it, under one of two names or both.
    #[serde(borrow)]
    reasoning_content: Option<Cow<'a, str>>,
    #[serde(borrow)]
    reasoning: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning_details: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<Vec<Called<'a>>>,
}

#[derive(Deserialize)]
struct Called<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    function: Option<Function<'a>>,
    #[serde(borrow)]
    extra_content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<Cow<'a, str>>,
}

impl Assembly {
    pub(super) fn push(
        &mut self,
        data: &str,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), StreamError> {
        if self.is_done {
            return Err(StreamError::order("found a chunk after the end", "nothing more"));
        }
        if data.trim() == "[DONE]" {
            if self.finish_reason.is_none() {
                return Err(StreamError::order("found `[DONE]`", "a reason to finish before"));
            }
            self.is_done = true;
            return Ok(());
        }
        let chunk: Chunk<'_> = parsed(data)?;
        if chunk.error.is_some_and(|error| error.get() != "null") {
            return Err(StreamError::Provider { body: data.to_owned() });
        }
        if chunk.choices.is_none() && chunk.usage.is_none() {
            let kind = chunk.object.map_or("a chunk without choices".to_owned(), Cow::into_owned);
            events.push(StreamEvent::Unknown { kind });
        }
        if let Some(usage) = chunk.usage.filter(|usage| usage.get() != "null") {
            self.usage = Some(usage.to_owned());
        }
        for choice in chunk.choices.into_iter().flatten() {
            if choice.index != 0 {
                let kind = format!("choice {}", choice.index);
                events.push(StreamEvent::Unknown { kind });
                continue;
            }
            if let Some(delta) = choice.delta {
                self.grow(delta, events)?;
            }
            // Some servers send an empty text for none.
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty())
                && self.finish_reason.is_none()
            {
                // The last call may have been cut by a limit.
                if reason != "length" {
                    self.end_calls(events)?;
                }
                self.finish_reason = Some(reason.into_owned());
            }
        }
        Ok(())
    }

    fn grow(&mut self, delta: Delta<'_>, events: &mut Vec<StreamEvent>) -> Result<(), StreamError> {
        let is_over = self.finish_reason.is_some();
        let has_calls = delta.tool_calls.as_ref().is_some_and(|calls| !calls.is_empty());
        let is_more = |text: &Option<Cow<'_, str>>| text.as_ref().is_some_and(|it| !it.is_empty());
        if is_over && (has_calls || is_more(&delta.content) || is_more(&delta.refusal)) {
            let found = "found a delta after the reason to finish";
            return Err(StreamError::order(found, "usage or the end"));
        }
        if let Some(text) = delta.content.filter(|text| !text.is_empty()) {
            self.content.get_or_insert_default().push_str(&text);
            events.push(StreamEvent::Text(text.into_owned()));
        }
        if let Some(text) = delta.refusal.filter(|text| !text.is_empty()) {
            self.refusal.get_or_insert_default().push_str(&text);
            events.push(StreamEvent::Text(text.into_owned()));
        }
        let other_name = delta.reasoning.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let names = [
            (delta.reasoning_content.map(Cow::into_owned), &mut self.reasoning_content),
            (other_name, &mut self.reasoning),
        ];
        let mut heard = None;
        for (text, whole) in names {
            let Some(text) = text.filter(|text: &String| !text.is_empty()) else { continue };
            whole.get_or_insert_default().push_str(&text);
            heard.get_or_insert(text);
        }
        events.extend(heard.map(StreamEvent::Reasoning));
        if let Some(details) = delta.reasoning_details {
            self.reasoning_details.push(details);
        }
        for called in delta.tool_calls.into_iter().flatten() {
            self.call(called, events)?;
        }
        Ok(())
    }

    fn call(
        &mut self,
        called: Called<'_>,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), StreamError> {
        let id = called.id.filter(|id| !id.is_empty());
        let last = self.calls.last_key_value().map(|(index, _)| *index);
        // Some servers leave the index out: then an id begins a call.
        let index = called.index.or(match (last, &id) {
            (None, _) => Some(0),
            (Some(last), Some(_)) => Some(last + 1),
            (last, None) => last,
        });
        let index = index.unwrap_or_default();
        if id.is_none() && !self.calls.contains_key(&index) {
            let found = format!("found more of call {index}, which has not begun");
            return Err(StreamError::order(found, "its id before"));
        }
        let call = self.calls.entry(index).or_insert_with(|| ToolCall {
            id: None,
            name: String::new(),
            arguments: String::new(),
        });
        if let Some(id) = id {
            match &call.id {
                Some(known) if **known != *id => {
                    let found = format!("found two ids of call {index}");
                    return Err(StreamError::order(found, "an index for each call"));
                }
                _ => call.id = Some(id.into_owned()),
            }
        }
        if let Some(extra) = called.extra_content.filter(|it| it.get() != "null") {
            self.extras.insert(index, extra.to_owned());
        }
        let Some(function) = called.function else { return Ok(()) };
        if let Some(name) = function.name.filter(|_| call.name.is_empty()) {
            call.name = name.into_owned();
        }
        let delta = function.arguments.unwrap_or_default();
        call.arguments.push_str(&delta);
        // Arguments wait for the name.
        let (place, delta) = match self.begun.grow(index)? {
            Some(place) => (place, delta.into_owned()),
            None if call.name.is_empty() => return Ok(()),
            None => {
                let place = self.begun.begin(index)?;
                events.push(StreamEvent::CallBegan { index: place, name: call.name.clone() });
                (place, call.arguments.clone())
            }
        };
        if !delta.is_empty() {
            events.push(StreamEvent::Arguments { index: place, delta });
        }
        Ok(())
    }

    fn end_calls(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), StreamError> {
        for (key, call) in &self.calls {
            let index = match self.begun.end(*key)? {
                Some(index) => index,
                None => {
                    let index = self.begun.begin(*key)?;
                    events.push(StreamEvent::CallBegan { index, name: call.name.clone() });
                    index
                }
            };
            events.push(StreamEvent::Call { index, call: call.clone() });
        }
        Ok(())
    }

    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    pub(super) fn usage(&self) -> Option<String> {
        self.usage.as_ref().map(ToString::to_string)
    }

    pub(super) fn message(self) -> Option<String> {
        if !self.is_done {
            return None;
        }
        let or_null = |text: Option<&String>| text.map_or("null".to_owned(), |it| quoted(it));
        let calls = self.calls.iter().map(|(index, call)| {
            let extra = self.extras.get(index);
            format!(
                r#"{{"id":{},"type":"function","function":{{"name":{},"arguments":{}}}{}}}"#,
                or_null(call.id.as_ref()),
                quoted(&call.name),
                quoted(&call.arguments),
                extra.map_or(String::new(), |it| format!(r#","extra_content":{it}"#)),
            )
        });
        let calls: Vec<String> = calls.collect();
        let calls = match calls.is_empty() {
            true => String::new(),
            false => format!(r#","tool_calls":[{}]"#, calls.join(",")),
        };
        let reasoned = [
            ("reasoning_content", self.reasoning_content.as_deref().map(quoted)),
            ("reasoning", self.reasoning.as_deref().map(quoted)),
            ("reasoning_details", self.reasoning_details.text()),
        ];
        let reasoned: String = reasoned
            .into_iter()
            .filter_map(|(key, json)| Some(format!(r#","{key}":{}"#, json?)))
            .collect();
        let usage = self.usage.map(|usage| format!(r#","usage":{usage}"#)).unwrap_or_default();
        Some(format!(
            r#"{{"object":"chat.completion","choices":[{{"index":0,"message":{{"role":"assistant","content":{},"refusal":{}{reasoned}{calls}}},"finish_reason":{}}}]{usage}}}"#,
            or_null(self.content.as_ref()),
            or_null(self.refusal.as_ref()),
            or_null(self.finish_reason.as_ref()),
        ))
    }
}
