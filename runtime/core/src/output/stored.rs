//! An answer in its stored form: one JSON object with a version. All stores use the same form.
//!
//! Besides `version`, the object has exactly one key:
//! - `{"text":…}`, a result that is text;
//! - `{"json":…}`, the JSON text of a result as a string, so that its numbers remain exact;
//! - `{"output":{"content":[…],"structured":…,"metadata":{…}}}`;
//! - `{"error":{"kind":…,"class":…,"retry_after_ms":…,"message":…,"hint":…,"details":…}}`, with `"untrusted":…` if the
//!   message contains untrusted text.

mod value;

use std::fmt;

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use self::value::StoredError;
use super::{Answer, Output};
use crate::error::ToolError;

const VERSION: &str = "version";

/// An answer in a form that can be stored, and read later by this release or a newer one. It does not contain the cause
/// of an error, which is for operators, nor the repairs of the input.
///
/// ```
/// use toolwright::{Answer, StoredAnswer, ToolError};
///
/// let answer = Answer::from(ToolError::new("not_found", "no such note").hint("list the notes"));
/// let text = serde_json::to_string(&StoredAnswer::from(&answer))?;
/// assert!(text.starts_with(r#"{"version":1,"error":"#));
///
/// let stored: StoredAnswer = serde_json::from_str(&text)?;
/// assert_eq!(stored.into_answer().text(), answer.text());
///
/// let newer = serde_json::from_str::<StoredAnswer>(r#"{"version":2,"film":"…"}"#).unwrap_err();
/// assert!(newer.to_string().contains("version 2"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct StoredAnswer {
    shape: Shape,
}

/// An answer as types that can be stored.
#[derive(Clone, PartialEq)]
enum Shape {
    Text(String),
    Json(String),
    Output(Output),
    Error(StoredError),
}

/// Why a stored answer cannot be read.
///
/// ```
/// use toolwright::StoredAnswer;
///
/// let error = serde_json::from_str::<StoredAnswer>(r#"{"version":1,"film":"…"}"#).unwrap_err();
/// assert!(error.to_string().contains("expected one of text, json, output, error"));
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoredAnswerError {
    /// A newer release wrote the stored answer.
    #[error(
        "the stored answer has version {version}, this release reads version {} and older; read it with the release that wrote it",
        StoredAnswer::VERSION
    )]
    Newer {
        /// The version of the answer.
        version: u64,
    },
    /// The value is not an answer.
    #[error(
        "the stored answer has {found}, expected one of text, json, output, error as it was written; was it changed by hand?"
    )]
    Unreadable {
        /// What the value contains instead of an answer, such as its keys. The values of the keys are not shown.
        found: String,
    },
}
crate::debug_as_sentence!(StoredAnswerError);

impl StoredAnswer {
    /// The version that this release writes. This release also reads older versions.
    pub const VERSION: u32 = 1;

    /// Converts back to the answer that was stored.
    #[must_use]
    pub fn into_answer(self) -> Answer {
        match self.shape {
            Shape::Text(text) => Answer::from_text(text),
            Shape::Json(text) => Answer::from_json(text),
            Shape::Output(output) => output.into(),
            Shape::Error(error) => error.into_error().into(),
        }
    }

    /// Returns the JSON object without a version, for a record that has its own version.
    #[doc(hidden)]
    #[must_use]
    pub fn unversioned(&self) -> Value {
        let (key, value) = self.parts();
        Value::Object(Map::from_iter([(key.to_owned(), value)]))
    }

    /// Reads the JSON object. An object without a version is read as version 1.
    #[doc(hidden)]
    pub fn read(value: &Value) -> Result<Self, StoredAnswerError> {
        let Some(object) = value.as_object() else {
            return Err(unreadable("no object"));
        };
        match object.get(VERSION) {
            None => {}
            Some(version) => match version.as_u64() {
                Some(version) if version > u64::from(Self::VERSION) => {
                    return Err(StoredAnswerError::Newer { version });
                }
                Some(1..) => {}
                _ => return Err(unreadable("a version that is not a positive number")),
            },
        }
        let mut parts = object.iter().filter(|(key, _)| *key != VERSION);
        let (Some((key, value)), None) = (parts.next(), parts.next()) else {
            let keys: Vec<&str> = object.keys().map(String::as_str).collect();
            return Err(unreadable(&format!("the keys [{}]", keys.join(", "))));
        };
        let shape = match (key.as_str(), value) {
            ("text", Value::String(text)) => Some(Shape::Text(text.clone())),
            ("json", Value::String(text)) => Some(Shape::Json(text.clone())),
            // An older release wrote JSON results in this form, which did not preserve every number exactly.
            ("json", value) => Some(Shape::Json(value.to_string())),
            ("output", value) => value::output(value).map(Shape::Output),
            ("error", value) => value::error(value).map(Shape::Error),
            _ => None,
        };
        let shape = shape.ok_or_else(|| unreadable(&format!("the key `{key}`")))?;
        Ok(Self { shape })
    }

    fn parts(&self) -> (&'static str, Value) {
        match &self.shape {
            Shape::Text(text) => ("text", json!(text)),
            Shape::Json(text) => ("json", json!(text)),
            Shape::Output(output) => ("output", value::of_output(output)),
            Shape::Error(error) => ("error", error.to_value()),
        }
    }
}

fn unreadable(found: &str) -> StoredAnswerError {
    StoredAnswerError::Unreadable { found: found.to_owned() }
}

impl From<&Answer> for StoredAnswer {
    fn from(answer: &Answer) -> Self {
        if let Some(error) = answer.error() {
            return error.into();
        }
        let shape = match answer.output() {
            Some(output) => Shape::Output(output.clone()),
            None if answer.json().is_some() => Shape::Json(answer.text().into_owned()),
            None => Shape::Text(answer.text().into_owned()),
        };
        Self { shape }
    }
}

impl From<&ToolError> for StoredAnswer {
    fn from(error: &ToolError) -> Self {
        Self { shape: Shape::Error(error.into()) }
    }
}

impl Serialize for StoredAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (key, value) = self.parts();
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry(VERSION, &Self::VERSION)?;
        map.serialize_entry(key, &value)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for StoredAnswer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::read(&value).map_err(D::Error::custom)
    }
}

/// Omits the result, which may contain a secret.
impl fmt::Debug for StoredAnswer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("StoredAnswer");
        match &self.shape {
            Shape::Text(text) => debug.field("text_bytes", &text.len()).finish(),
            Shape::Json(text) => debug.field("json_bytes", &text.len()).finish(),
            Shape::Output(output) => debug.field("blocks", &output.content.len()).finish(),
            Shape::Error(error) => debug.field("error", &error.kind).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::Content;
    use super::*;
    use crate::error::ErrorClass;

    /// Compares answers by their content, not by their place in memory.
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
            .with(Content::Document {
                name: Some("a.pdf".into()),
                media_type: "application/pdf".into(),
                data: "AAAA".into(),
            })
            .with(Content::Resource {
                uri: "file:///a".into(),
                media_type: None,
                text: Some("a".into()),
            })
            .structured(json!({ "files": 3 }))
            .metadata("bytes", 4096);
        let error = ToolError::new("busy", "try later")
            .class(ErrorClass::NotStarted { retry_after: Some(Duration::from_millis(1500)) })
            .hint("wait")
            .details(json!([1]));
        let answers = [
            Answer::from_text("plain".to_owned()),
            Answer::from_json(r#"{"n":9007199254740993}"#.to_owned()),
            output.into(),
            error.into(),
            ToolError::new("gone", "no").class(ErrorClass::Transient).into(),
        ];
        for answer in answers {
            let text = serde_json::to_string(&StoredAnswer::from(&answer)).unwrap();
            let stored = serde_json::from_str::<StoredAnswer>(&text).unwrap();
            // A journal stores answers in this form, because its records contain the version.
            let in_a_record = StoredAnswer::read(&stored.unversioned()).unwrap();
            assert!(in_a_record == stored && stored.unversioned().get(VERSION).is_none());
            assert_eq!(said(&stored.into_answer()), said(&answer));
        }
    }

    #[test]
    fn what_is_no_answer_of_a_known_version_is_refused_by_name() {
        let problem = |value: Value| StoredAnswer::read(&value).unwrap_err();
        assert_eq!(
            problem(json!({ "version": 2, "film": 1 })),
            StoredAnswerError::Newer { version: 2 }
        );
        for (value, found) in [
            (json!([]), "no object"),
            (json!({ "film": 1 }), "the key `film`"),
            (json!({ "version": 0, "text": "a" }), "a version that is not a positive number"),
            (json!({ "text": "a", "json": "1" }), "the keys [json, text]"),
            (json!({ "version": 1 }), "the keys [version]"),
            (
                json!({ "error": { "kind": "k", "class": "odd", "message": "m" } }),
                "the key `error`",
            ),
        ] {
            assert_eq!(problem(value), unreadable(found));
        }
    }

    #[test]
    fn no_debug_form_shows_a_result() {
        for answer in [Answer::from_text("hunter2".into()), Output::text("hunter2").into()] {
            assert!(!format!("{:?}", StoredAnswer::from(&answer)).contains("hunter2"));
        }
    }
}
