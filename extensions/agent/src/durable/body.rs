//! The parts of runs' documents that models, tools and the application wrote: JSON, encrypted if the executor has a key.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolwright::journal::{SealingKey, StoredText};

use super::RunError;

/// A JSON value that may be encrypted. The encryption is bound to the key of the document, so that a value copied to
/// another document is refused.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Body {
    Plain(Value),
    Sealed(String),
}

impl Body {
    /// Makes the body of a document. With a sealing key, encrypts every value, because a model may repeat a secret in
    /// any text.
    pub(super) fn of(
        value: &impl Serialize,
        key: &str,
        sealing: Option<&SealingKey>,
    ) -> Result<Self, RunError> {
        let damaged = |error: serde_json::Error| RunError::damaged(key, error);
        let Some(sealing) = sealing else {
            return Ok(Self::Plain(serde_json::to_value(value).map_err(damaged)?));
        };
        let text = serde_json::to_string(value).map_err(damaged)?;
        match sealing.seal(&text, key.as_bytes()).map_err(|error| RunError::damaged(key, error))? {
            StoredText::Encrypted(sealed) => Ok(Self::Sealed(sealed)),
            _ => Err(RunError::damaged(key, "the sealing key left it plain")),
        }
    }

    /// Returns the value that was stored under this key. With a sealing key, refuses a value that is not encrypted,
    /// because its author is unknown.
    pub(super) fn open<T: DeserializeOwned>(
        &self,
        key: &str,
        sealing: Option<&SealingKey>,
    ) -> Result<T, RunError> {
        let damaged = |error: serde_json::Error| RunError::damaged(key, error);
        match (self, sealing) {
            (Self::Plain(value), None) => T::deserialize(value).map_err(damaged),
            (Self::Plain(_), Some(_)) => Err(RunError::damaged(
                key,
                "it is not encrypted, expected it to be: the executor has a sealing key",
            )),
            (Self::Sealed(_), None) => Err(RunError::damaged(
                key,
                "it is encrypted; give the executor the sealing key that it was encrypted with",
            )),
            (Self::Sealed(sealed), Some(sealing)) => {
                let text = sealing
                    .open(&StoredText::Encrypted(sealed.clone()), key.as_bytes())
                    .map_err(|error| RunError::damaged(key, error))?;
                serde_json::from_str(&text).map_err(damaged)
            }
        }
    }
}
