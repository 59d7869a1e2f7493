//! The stream of `OpenAI`'s Chat Completions API: each chunk contains a further part of the text or of the calls.

mod chunk;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use self::chunk::{CalledFunction, Chunk, Delta, Function};
use super::begun::BegunCalls;
use super::reasoning_details::ReasoningDetails;
use super::{StreamError, StreamEvent, parse, quote};
use crate::provider::ToolCall;
use crate::provider::openai_chat::{is_cut_short, is_whole};

#[derive(Debug, Default)]
pub(super) struct Assembly {
    content: Option<String>,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    reasoning_details: ReasoningDetails,
    calls: BTreeMap<u64, ToolCall>,
    /// The key in `calls` for each index in the stream. Some servers write the same index for every call, so the key is
    /// that of the latest call with the index. A call without an index is entered under its own key.
    keys: BTreeMap<u64, u64>,
    /// Data that some servers other than `OpenAI`'s attach to a call and expect back, by the key of the call.
    extras: BTreeMap<u64, Box<RawValue>>,
    begun: BegunCalls,
    finish_reason: Option<String>,
    usage: Option<Box<RawValue>>,
    is_done: bool,
}

impl Assembly {
    pub(super) fn push(
        &mut self,
        data: &str,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), StreamError> {
        if data.trim() == "[DONE]" {
            self.finish(events)?;
            self.is_done = true;
            return Ok(());
        }
        let chunk: Chunk<'_> = parse(data)?;
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
            if let Some(error) = choice.error.filter(|error| error.get() != "null") {
                return Err(StreamError::Provider { body: format!(r#"{{"error":{error}}}"#) });
            }
            if let Some(delta) = choice.delta {
                self.grow(delta, events)?;
            }
            // Some servers send an empty text instead of no reason.
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty())
                && self.finish_reason.is_none()
            {
                let last = self.calls.last_key_value();
                if !last.is_some_and(|(_, last)| is_cut_short(last, &reason)) {
                    self.end_calls(events)?;
                }
                self.finish_reason = Some(reason.into_owned());
            }
        }
        Ok(())
    }

    /// Ends an answer for which the server gave no reason to finish. If a call is incomplete, the answer was cut off.
    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), StreamError> {
        if self.finish_reason.is_some() {
            return Ok(());
        }
        let is_empty = self.content.is_none() && self.refusal.is_none() && self.calls.is_empty();
        if is_empty {
            return Err(StreamError::order("found `[DONE]`", "an answer before"));
        }
        let reason = match self.calls.values().all(|call| is_whole(&call.arguments)) {
            true if self.calls.is_empty() => "stop",
            true => "tool_calls",
            false => "length",
        };
        if reason != "length" {
            self.end_calls(events)?;
        }
        self.finish_reason = Some(reason.to_owned());
        Ok(())
    }

    fn grow(&mut self, delta: Delta<'_>, events: &mut Vec<StreamEvent>) -> Result<(), StreamError> {
        let has_calls = delta.tool_calls.as_ref().is_some_and(|calls| !calls.is_empty());
        if has_calls && self.finish_reason.is_some() {
            let found = "found a call after the reason to finish";
            return Err(StreamError::order(found, "text, usage or the end"));
        }
        // The reasoning in a list of parts does not become a part of the message, because the server that writes it this
        // way refuses a history with reasoning under the other names.
        for (thought, text) in delta.parts()? {
            events.extend((!thought.is_empty()).then_some(StreamEvent::Reasoning(thought)));
            if !text.is_empty() {
                self.content.get_or_insert_default().push_str(&text);
                events.push(StreamEvent::Text(text));
            }
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
        called: CalledFunction<'_>,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), StreamError> {
        let arguments = called.function.as_ref().map(Function::arguments).transpose()?;
        let (delta, is_object) = arguments.unwrap_or_default();
        let Some(key) = self.key(&called, &delta)? else { return Ok(()) };
        let call = self.calls.entry(key).or_insert_with(|| ToolCall {
            id: None,
            name: String::new(),
            arguments: String::new(),
        });
        if let Some(id) = called.id.filter(|id| !id.is_empty()) {
            call.id = Some(id.into_owned());
        }
        if let Some(extra) = called.extra_content.filter(|it| it.get() != "null") {
            self.extras.insert(key, extra.to_owned());
        }
        let Some(function) = called.function else { return Ok(()) };
        if let Some(name) = function.name.filter(|_| call.name.is_empty()) {
            call.name = name.into_owned();
        }
        if is_object && !call.arguments.trim().is_empty() {
            if call.arguments == delta {
                return Ok(());
            }
            let found = format!("found an object as more of the arguments of call {key}");
            return Err(StreamError::order(found, "pieces of a text, or one object alone"));
        }
        call.arguments.push_str(&delta);
        // The arguments are not reported until the name of the tool has arrived.
        let (place, delta) = match self.begun.grow(key)? {
            Some(place) => (place, delta.into_owned()),
            None if call.name.is_empty() => return Ok(()),
            None => {
                let place = self.begun.begin(key)?;
                events.push(StreamEvent::CallBegan { index: place, name: call.name.clone() });
                (place, call.arguments.clone())
            }
        };
        if !delta.is_empty() {
            events.push(StreamEvent::Arguments { index: place, delta });
        }
        Ok(())
    }

    /// Finds the call to which a delta belongs, or begins a new call. Returns `None` for a delta that repeats a
    /// complete call. A new id with a name begins a new call, even under the index of another call. If a server writes
    /// no ids, a name begins a new call once the arguments of the call before it are complete.
    fn key(
        &mut self,
        called: &CalledFunction<'_>,
        arguments: &str,
    ) -> Result<Option<u64>, StreamError> {
        let id = called.id.as_deref().filter(|id| !id.is_empty());
        let function = called.function.as_ref();
        let name = function.and_then(|it| it.name.as_deref()).filter(|name| !name.is_empty());
        let last = self.calls.last_key_value().map(|(key, _)| *key);
        let next = last.map_or(Some(0), |last| last.checked_add(1)).ok_or_else(|| {
            StreamError::order("found a call with the largest index", "one after another")
        })?;
        // Some servers send no index. Then a new id means that a new call begins.
        let open = match called.index {
            Some(index) => self.keys.get(&index).copied(),
            None => last.filter(|_| id.is_none()),
        };
        let key = match open.and_then(|key| Some((key, self.calls.get(&key)?))) {
            None if id.is_none() && name.is_none() => {
                let found = format!(
                    "found more of call {}, which has not begun",
                    called.index.unwrap_or_default()
                );
                return Err(StreamError::order(found, "its id or its name before"));
            }
            // If each index so far equals the position of its call, the new call has its own index as key. Otherwise
            // the key is the next position.
            None => called
                .index
                .filter(|_| self.keys.iter().all(|(one, other)| one == other))
                .unwrap_or(next),
            Some((key, call)) => match (id, call.id.as_deref()) {
                (Some(id), Some(known)) if id != known => match name {
                    Some(_) => next,
                    None => {
                        let found = format!("found two ids of call {key}");
                        return Err(StreamError::order(found, "a name with each new id"));
                    }
                },
                (Some(_), Some(_)) => key,
                _ => match name {
                    Some(name) if is_whole(&call.arguments) && !arguments.trim().is_empty() => {
                        if *call.name == *name && call.arguments == arguments {
                            return Ok(None);
                        }
                        next
                    }
                    _ => key,
                },
            },
        };
        self.keys.insert(called.index.unwrap_or(key), key);
        Ok(Some(key))
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
        // Some servers end the stream without `[DONE]`. Then a finish reason shows that the answer is complete.
        if !self.is_done && self.finish_reason.is_none() {
            return None;
        }
        let or_null = |text: Option<&String>| text.map_or("null".to_owned(), |it| quote(it));
        let calls = self.calls.iter().map(|(index, call)| {
            let extra = self.extras.get(index);
            format!(
                r#"{{"id":{},"type":"function","function":{{"name":{},"arguments":{}}}{}}}"#,
                or_null(call.id.as_ref()),
                quote(&call.name),
                quote(&call.arguments),
                extra.map_or(String::new(), |it| format!(r#","extra_content":{it}"#)),
            )
        });
        let calls: Vec<String> = calls.collect();
        let calls = match calls.is_empty() {
            true => String::new(),
            false => format!(r#","tool_calls":[{}]"#, calls.join(",")),
        };
        let reasoned = [
            ("reasoning_content", self.reasoning_content.as_deref().map(quote)),
            ("reasoning", self.reasoning.as_deref().map(quote)),
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
