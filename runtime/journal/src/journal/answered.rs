//! Answers as the journal stores them.
//!
//! [`StoredAnswer`](toolwright_core::output::StoredAnswer) describes all forms of [`AnswerRecord::whole`]. The
//! functions here make these:
//! - `{"error":{"kind":…,"class":"final","message":…,"hint":…}}`, where `hint` may be null,
//! - `{"text":…}`,
//! - `{"json":…}`, the JSON text of an object or array as a string, so that its numbers stay exact.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use toolwright_core::error::ToolError;

/// An answer in the form in which the journal stores it.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerRecord {
    /// Whether the call failed.
    pub is_error: bool,
    /// The text that the model receives.
    pub text: String,
    /// The complete answer as JSON, from which the executor rebuilds the `Answer`.
    pub whole: serde_json::Value,
}

impl AnswerRecord {
    /// Makes an error of class `Final`, with the message that a model reads.
    #[must_use]
    pub fn error(kind: &str, message: &str, hint: Option<&str>) -> Self {
        let mut error = ToolError::new(kind.to_owned(), message.to_owned());
        if let Some(hint) = hint {
            error = error.hint(hint.to_owned());
        }
        let whole = json!({"kind": kind, "class": "final", "message": message, "hint": hint});
        Self { is_error: true, text: error.to_json(), whole: json!({"error": whole}) }
    }

    /// Makes a text result.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { is_error: false, whole: json!({"text": text}), text }
    }

    /// Makes a structured result from the JSON text of an object or array. Returns `None` for any other text.
    ///
    /// ```
    /// use toolwright::journal::AnswerRecord;
    ///
    /// let answered = AnswerRecord::json(r#"{"id":9007199254740993}"#).expect("an object");
    /// assert_eq!(answered.whole["json"], r#"{"id":9007199254740993}"#);
    /// assert!(AnswerRecord::json("42").is_none());
    /// ```
    #[must_use]
    pub fn json(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        (value.is_object() || value.is_array()).then(|| Self {
            is_error: false,
            text: text.to_owned(),
            whole: json!({"json": text}),
        })
    }

    /// Makes a result from what a person typed: a structured result if the text is a JSON object or array, else a text
    /// result.
    #[must_use]
    pub fn result(text: &str) -> Self {
        Self::json(text).unwrap_or_else(|| Self::text(text))
    }
}

/// Omits the answer, which may repeat a secret.
impl fmt::Debug for AnswerRecord {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Answered").field("is_error", &self.is_error).finish_non_exhaustive()
    }
}
