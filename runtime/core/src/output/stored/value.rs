//! Converts the parts of a stored answer from and to JSON values.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::error::{ErrorClass, ToolError};
use crate::output::{Content, Output};

/// The stored form of an error. It does not contain the error's cause.
#[derive(Clone, PartialEq)]
pub(super) struct StoredError {
    pub kind: String,
    class: ErrorClass,
    message: String,
    hint: Option<String>,
    details: Option<Value>,
    untrusted: Option<String>,
}

impl StoredError {
    pub fn into_error(self) -> ToolError {
        let mut error = ToolError::new(self.kind, self.message).class(self.class);
        if let Some(hint) = self.hint {
            error = error.hint(hint);
        }
        if let Some(details) = self.details {
            error = error.details(details);
        }
        if let Some(source) = self.untrusted {
            error = error.untrusted(&source);
        }
        error
    }

    pub fn to_value(&self) -> Value {
        let (class, retry_after) = class_name(self.class);
        let mut value = json!({
            "kind": self.kind,
            "class": class,
            "retry_after_ms": retry_after,
            "message": self.message,
            "hint": self.hint,
            "details": self.details,
        });
        if let Some(source) = &self.untrusted {
            value["untrusted"] = source.as_str().into();
        }
        value
    }
}

impl From<&ToolError> for StoredError {
    fn from(error: &ToolError) -> Self {
        Self {
            kind: error.kind().to_owned(),
            class: error.classified(),
            message: error.message().to_owned(),
            hint: error.next_action().map(ToOwned::to_owned),
            details: error.detail().cloned(),
            untrusted: error.untrusted_source().map(ToOwned::to_owned),
        }
    }
}

pub(super) fn of_output(output: &Output) -> Value {
    json!({
        "content": output.content.iter().map(block).collect::<Vec<_>>(),
        "structured": output.structured,
        "metadata": output.metadata,
    })
}

fn class_name(class: ErrorClass) -> (&'static str, Option<u64>) {
    match class {
        ErrorClass::NotStarted { retry_after } => {
            let milliseconds =
                retry_after.map(|it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX));
            ("not_started", milliseconds)
        }
        ErrorClass::Transient => ("transient", None),
        ErrorClass::Invalid => ("invalid", None),
        ErrorClass::Final => ("final", None),
        ErrorClass::Cancelled => ("cancelled", None),
        ErrorClass::Unknown => ("unknown", None),
    }
}

pub(super) fn error(value: &Value) -> Option<StoredError> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
    let class = match text("class")?.as_str() {
        "not_started" => {
            let delay = value.get("retry_after_ms").and_then(Value::as_u64);
            ErrorClass::NotStarted { retry_after: delay.map(Duration::from_millis) }
        }
        "transient" => ErrorClass::Transient,
        "invalid" => ErrorClass::Invalid,
        "final" => ErrorClass::Final,
        "cancelled" => ErrorClass::Cancelled,
        "unknown" => ErrorClass::Unknown,
        _ => return None,
    };
    Some(StoredError {
        kind: text("kind")?,
        class,
        message: text("message")?,
        hint: text("hint"),
        details: value.get("details").filter(|it| !it.is_null()).cloned(),
        untrusted: text("untrusted"),
    })
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
        Content::Document { name, media_type, data } => {
            json!({ "document": { "name": name, "media_type": media_type, "data": data } })
        }
        Content::Resource { uri, media_type, text } => {
            json!({ "resource": { "uri": uri, "media_type": media_type, "text": text } })
        }
    }
}

pub(super) fn output(value: &Value) -> Option<Output> {
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
        "document" => Content::Document {
            name: text("name"),
            media_type: text("media_type")?,
            data: text("data")?,
        },
        "resource" => Content::Resource {
            uri: text("uri")?,
            media_type: text("media_type"),
            text: text("text"),
        },
        _ => return None,
    })
}
