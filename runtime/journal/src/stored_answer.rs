//! An answer as a journal keeps it, and back.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::journal::{Answered, StoreError};
use toolwright_core::error::{Class, ToolError};
use toolwright_core::output::{Answer, Content, Output};

impl From<&Answer> for Answered {
    fn from(answer: &Answer) -> Self {
        if let Some(error) = answer.error() {
            return error.into();
        }
        let whole = match answer.output() {
            Some(output) => json!({
                "output": {
                    "content": output.content.iter().map(block).collect::<Vec<_>>(),
                    "structured": output.structured,
                    "metadata": output.metadata,
                }
            }),
            None if answer.json().is_some() => json!({ "json": answer.text() }),
            None => json!({ "text": answer.text() }),
        };
        Self { is_error: false, text: answer.text().into_owned(), whole }
    }
}

/// Without the cause, which is for operators: it stands in the history of the call.
impl From<&ToolError> for Answered {
    fn from(error: &ToolError) -> Self {
        let (class, retry_after) = class(error.classified());
        let whole = json!({
            "error": {
                "kind": error.kind(),
                "class": class,
                "retry_after_ms": retry_after,
                "message": error.to_string(),
                "hint": error.next_action(),
                "details": error.detail(),
            }
        });
        Self { is_error: true, text: error.to_json(), whole }
    }
}

impl Answered {
    /// The answer as it was given.
    #[doc(hidden)]
    pub fn to_answer(&self) -> Result<Answer, StoreError> {
        let unreadable = || {
            StoreError::corrupt(
                "an answer in the journal cannot be read; it was written by a newer version, or changed by hand",
            )
        };
        let (kind, value) =
            self.whole.as_object().and_then(|it| it.iter().next()).ok_or_else(unreadable)?;
        let answer = match (kind.as_str(), value) {
            ("text", Value::String(text)) => Some(Answer::from_text(text.clone())),
            ("json", Value::String(text)) => Some(Answer::from_json(text.clone())),
            ("json", value) => Some(Answer::from_json(value.to_string())),
            ("output", value) => output(value).map(Answer::from),
            ("error", value) => error(value).map(Answer::from),
            _ => None,
        };
        answer.ok_or_else(unreadable)
    }
}

fn class(class: Class) -> (&'static str, Option<u64>) {
    match class {
        Class::NotStarted { retry_after } => {
            let milliseconds =
                retry_after.map(|it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX));
            ("not_started", milliseconds)
        }
        Class::Transient => ("transient", None),
        Class::Invalid => ("invalid", None),
        Class::Final => ("final", None),
        Class::Cancelled => ("cancelled", None),
        Class::Unknown => ("unknown", None),
    }
}

fn error(value: &Value) -> Option<ToolError> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
    let class = match text("class")?.as_str() {
        "not_started" => Class::NotStarted {
            retry_after: value
                .get("retry_after_ms")
                .and_then(Value::as_u64)
                .map(Duration::from_millis),
        },
        "transient" => Class::Transient,
        "invalid" => Class::Invalid,
        "final" => Class::Final,
        "cancelled" => Class::Cancelled,
        "unknown" => Class::Unknown,
        _ => return None,
    };
    let mut error = ToolError::new(text("kind")?, text("message")?).class(class);
    if let Some(hint) = text("hint") {
        error = error.hint(hint);
    }
    if let Some(details) = value.get("details").filter(|it| !it.is_null()) {
        error = error.details(details.clone());
    }
    Some(error)
}

fn block(content: &Content<'_>) -> Value {
    match content {
        Content::Text(text) => json!({ "text": text }),
        Content::Json(json) => json!({ "json": json }),
        Content::Image { media_type, data } => {
            json!({ "image": { "media_type": media_type, "data": data } })
        }
        Content::Audio { media_type, data } => {
            json!({ "audio": { "media_type": media_type, "data": data } })
        }
        Content::Resource { uri, media_type, text } => {
            json!({ "resource": { "uri": uri, "media_type": media_type, "text": text } })
        }
    }
}

fn output(value: &Value) -> Option<Output> {
    let content = value.get("content")?.as_array()?.iter().map(content).collect::<Option<_>>()?;
    let metadata: Map<String, Value> = value.get("metadata")?.as_object()?.clone();
    let structured = value.get("structured").filter(|it| !it.is_null()).cloned();
    Some(Output { content, structured, metadata })
}

fn content(value: &Value) -> Option<Content<'static>> {
    let (kind, value) = value.as_object()?.iter().next()?;
    let text = |key: &str| {
        value.get(key).and_then(Value::as_str).map(|it| Cow::<str>::Owned(it.to_owned()))
    };
    let whole = || value.as_str().map(|it| Cow::<str>::Owned(it.to_owned()));
    Some(match kind.as_str() {
        "text" => Content::Text(whole()?),
        "json" => Content::Json(whole()?),
        "image" => Content::Image { media_type: text("media_type")?, data: text("data")? },
        "audio" => Content::Audio { media_type: text("media_type")?, data: text("data")? },
        "resource" => Content::Resource {
            uri: text("uri")?,
            media_type: text("media_type"),
            text: text("text"),
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an answer says, without its place in memory.
    fn said(answer: &Answer) -> String {
        format!(
            "{:?} {} {:?} {:?} {:?}",
            answer.error().map(|it| (it.kind().to_owned(), it.classified())),
            answer.text(),
            answer.content(),
            answer.structured(),
            answer.metadata()
        )
    }

    #[test]
    fn every_kind_of_answer_comes_back_as_it_was() {
        let output = Output::text("three")
            .with(Content::Image { media_type: "image/png".into(), data: "AAAA".into() })
            .with(Content::Audio { media_type: "audio/wav".into(), data: "AAAA".into() })
            .with(Content::Resource {
                uri: "file:///a".into(),
                media_type: None,
                text: Some("a".into()),
            })
            .structured(json!({ "files": 3 }))
            .metadata("bytes", 4096);
        let error = ToolError::new("busy", "try later")
            .class(Class::NotStarted { retry_after: Some(Duration::from_millis(1500)) })
            .hint("wait")
            .details(json!([1]));
        let answers = [
            Answer::from_text("plain".to_owned()),
            Answer::from_json(r#"{"n":9007199254740993}"#.to_owned()),
            output.into(),
            error.into(),
            ToolError::new("gone", "no").class(Class::Transient).into(),
        ];
        for answer in answers {
            let kept = serde_json::to_string(&Answered::from(&answer)).unwrap();
            let back = serde_json::from_str::<Answered>(&kept).unwrap().to_answer().unwrap();
            assert_eq!(said(&back), said(&answer));
        }
    }

    #[test]
    fn an_answer_of_a_newer_version_is_refused() {
        let kept = Answered { is_error: false, text: String::new(), whole: json!({ "film": 1 }) };
        assert!(kept.to_answer().is_err());
    }
}
