//! The stream of Gemini's `streamGenerateContent`. Each response contains further parts, and every call arrives
//! complete.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::{StreamError, StreamEvent, parse, quote};
use crate::provider::Provider;

/// The members of parts, in lower case and without `_`, because the API accepts two spellings.
const KNOWN: [&str; 13] = [
    "text",
    "thought",
    "thoughtsignature",
    "functioncall",
    "functionresponse",
    "executablecode",
    "codeexecutionresult",
    "inlinedata",
    "filedata",
    "videometadata",
    "partmetadata",
    "toolcall",
    "toolresponse",
];

#[derive(Debug, Default)]
pub(super) struct Assembly {
    parts: Vec<String>,
    calls: usize,
    finish_reason: Option<String>,
    finish_message: Option<String>,
    feedback: Option<Box<RawValue>>,
    usage: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow)]
    prompt_feedback: Option<&'a RawValue>,
    #[serde(borrow)]
    usage_metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    content: Option<Content<'a>>,
    finish_reason: Option<String>,
    finish_message: Option<String>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, default)]
    parts: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(default)]
    thought: bool,
    #[serde(borrow, alias = "function_call")]
    function_call: Option<&'a RawValue>,
    #[serde(borrow, alias = "executable_code")]
    executable_code: Option<&'a RawValue>,
}

impl Assembly {
    pub(super) fn push(
        &mut self,
        data: &str,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), StreamError> {
        let chunk: Chunk<'_> = parse(data)?;
        if chunk.error.is_some() {
            return Err(StreamError::Provider { body: data.to_owned() });
        }
        if chunk.candidates.is_none()
            && chunk.prompt_feedback.is_none()
            && chunk.usage_metadata.is_none()
        {
            events.push(StreamEvent::Unknown { kind: "a chunk without candidates".to_owned() });
        }
        if let Some(usage) = chunk.usage_metadata {
            self.usage = Some(usage.to_owned());
        }
        if let Some(feedback) = chunk.prompt_feedback {
            self.feedback = Some(feedback.to_owned());
        }
        for candidate in chunk.candidates.into_iter().flatten() {
            if candidate.index != 0 {
                let kind = format!("candidate {}", candidate.index);
                events.push(StreamEvent::Unknown { kind });
                continue;
            }
            let parts = candidate.content.map(|content| content.parts).unwrap_or_default();
            for part in parts {
                self.part(part, events)?;
            }
            if let Some(reason) = candidate.finish_reason {
                self.finish_reason = Some(reason);
                self.finish_message = candidate.finish_message;
            }
        }
        Ok(())
    }

    fn part(&mut self, raw: &RawValue, events: &mut Vec<StreamEvent>) -> Result<(), StreamError> {
        let part: Part<'_> = parse(raw.get())?;
        // Some models and servers give the reason `STOP` with each chunk.
        let may_follow = match self.finish_reason.as_deref() {
            None => true,
            Some(reason) => reason == "STOP" && part.function_call.is_none(),
        };
        if !may_follow {
            let found = "found a part after the reason to finish";
            return Err(StreamError::order(found, "text after `STOP`, or nothing more"));
        }
        if part.function_call.is_some() {
            // An invalid call is reported when the whole message is read.
            let calls = Provider::Gemini.tool_calls(raw.get()).unwrap_or_default();
            for call in calls {
                let index = self.calls;
                self.calls += 1;
                events.push(StreamEvent::CallBegan { index, name: call.name.clone() });
                events.push(StreamEvent::Call { index, call });
            }
        } else if part.executable_code.is_some() {
            events.push(StreamEvent::ProviderTool { name: "code_execution".to_owned() });
        } else if let Some(text) = part.text.filter(|text| !text.is_empty()) {
            let text = text.into_owned();
            events.push(if part.thought {
                StreamEvent::Reasoning(text)
            } else {
                StreamEvent::Text(text)
            });
        } else {
            events.extend(unknown(raw)?.map(|kind| StreamEvent::Unknown { kind }));
        }
        self.parts.push(raw.get().to_owned());
        Ok(())
    }

    pub(super) fn usage(&self) -> Option<String> {
        self.usage.as_ref().map(ToString::to_string)
    }

    pub(super) fn message(self) -> Option<String> {
        let usage =
            self.usage.map(|usage| format!(r#","usageMetadata":{usage}"#)).unwrap_or_default();
        let Some(reason) = self.finish_reason else {
            // If the prompt was blocked, the response has no candidates.
            let feedback = self.feedback.filter(|it| it.get().contains("blockReason"))?;
            return Some(format!(r#"{{"promptFeedback":{feedback}{usage}}}"#));
        };
        let message = self.finish_message.map(|it| format!(r#","finishMessage":{}"#, quote(&it)));
        Some(format!(
            r#"{{"candidates":[{{"content":{{"role":"model","parts":[{}]}},"finishReason":{}{}}}]{usage}}}"#,
            self.parts.join(","),
            quote(&reason),
            message.unwrap_or_default(),
        ))
    }
}

/// If a part has no known member, returns the name of one of its members, for an error message.
fn unknown(part: &RawValue) -> Result<Option<String>, StreamError> {
    let members: BTreeMap<Cow<'_, str>, IgnoredAny> = parse(part.get())?;
    let is_known = |key: &str| KNOWN.contains(&key.replace('_', "").to_lowercase().as_str());
    let is_unknown = members.keys().all(|key| !is_known(key));
    Ok(members.into_keys().next().filter(|_| is_unknown).map(Cow::into_owned))
}
