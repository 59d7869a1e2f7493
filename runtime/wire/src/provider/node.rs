//! A JSON value with its place in the message. It is parsed one level at a time.
//!
//! Nothing below the current level is parsed, so the arguments of a call remain exactly what the provider wrote.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::{MessageError, Provider};

/// A JSON value and its place in the message.
#[derive(Clone)]
pub(super) struct Node<'a> {
    provider: Provider,
    pointer: String,
    raw: &'a RawValue,
}

/// The members of an object. A member whose value is `null` counts as absent, as it does for every provider.
pub(super) struct Fields<'a> {
    owner: Node<'a>,
    members: BTreeMap<String, &'a RawValue>,
}

impl<'a> Node<'a> {
    pub(super) fn root(provider: Provider, raw: &'a RawValue) -> Self {
        let pointer = String::new();
        Self { provider, pointer, raw }
    }

    /// Returns the text of the value, as the provider wrote it.
    pub(super) fn text(&self) -> &'a str {
        self.raw.get()
    }

    pub(super) fn is_object(&self) -> bool {
        self.text().starts_with('{')
    }

    pub(super) fn is_array(&self) -> bool {
        self.text().starts_with('[')
    }

    pub(super) fn fields(&self, expected: &'static str) -> Result<Fields<'a>, MessageError> {
        let members = self.decode(expected)?;
        let owner = self.clone();
        Ok(Fields { owner, members })
    }

    pub(super) fn items(&self, expected: &'static str) -> Result<Vec<Self>, MessageError> {
        let items: Vec<&'a RawValue> = self.decode(expected)?;
        let nodes =
            items.into_iter().enumerate().map(|(index, raw)| self.child(&index.to_string(), raw));
        Ok(nodes.collect())
    }

    pub(super) fn string(&self) -> Result<String, MessageError> {
        self.decode("a string")
    }

    pub(super) fn shape_error(&self, expected: &'static str) -> MessageError {
        MessageError::Unexpected {
            provider: self.provider,
            pointer: self.pointer.clone(),
            expected,
            found: description(self.raw),
        }
    }

    pub(super) fn kind_error(&self, call: Option<String>, kind: &str) -> MessageError {
        MessageError::Unsupported {
            provider: self.provider,
            pointer: self.pointer.clone(),
            call: call.unwrap_or_else(|| "without an id".to_owned()),
            kind: kind.to_owned(),
        }
    }

    pub(super) fn cut_short(&self, reason: &str) -> MessageError {
        MessageError::CutShort {
            provider: self.provider,
            pointer: self.pointer.clone(),
            reason: reason.to_owned(),
        }
    }

    pub(super) fn several_alternatives(&self) -> MessageError {
        MessageError::SeveralAlternatives { provider: self.provider, pointer: self.pointer.clone() }
    }

    fn decode<T: serde::Deserialize<'a>>(&self, expected: &'static str) -> Result<T, MessageError> {
        serde_json::from_str(self.text()).map_err(|_| self.shape_error(expected))
    }

    fn child(&self, key: &str, raw: &'a RawValue) -> Self {
        let escaped = key.replace('~', "~0").replace('/', "~1");
        Self { provider: self.provider, pointer: format!("{}/{escaped}", self.pointer), raw }
    }
}

impl<'a> Fields<'a> {
    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        let raw = self.members.get(key)?;
        (raw.get() != "null").then(|| self.owner.child(key, raw))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Returns whether the object has this member with the value `null`.
    pub(super) fn is_null(&self, key: &str) -> bool {
        self.members.get(key).is_some_and(|raw| raw.get() == "null")
    }

    pub(super) fn require(
        &self,
        key: &str,
        expected: &'static str,
    ) -> Result<Node<'a>, MessageError> {
        self.get(key).ok_or_else(|| MessageError::Unexpected {
            provider: self.owner.provider,
            pointer: format!("{}/{key}", self.owner.pointer),
            expected,
            found: if self.is_null(key) { "null" } else { "nothing" }.to_owned(),
        })
    }

    pub(super) fn string(&self, key: &str) -> Result<String, MessageError> {
        self.require(key, "a string")?.string()
    }

    /// Returns a member that is a string; `None` if the member is missing or is not a string.
    pub(super) fn peek(&self, key: &str) -> Option<String> {
        self.get(key)?.string().ok()
    }
}

/// Describes a value for an error message. An object is described by its first few keys in alphabetical order.
pub(super) fn description(raw: &RawValue) -> String {
    const NAMED: usize = 6;
    const LONGEST: usize = 60;
    let shortened = |key: &str| match key.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &key[..end]),
        None => key.to_owned(),
    };
    let words = match raw.get().as_bytes().first() {
        Some(b'{') => match serde_json::from_str::<BTreeMap<String, &RawValue>>(raw.get()) {
            Err(_) => "an object with a broken key",
            Ok(members) if members.is_empty() => "an empty object",
            Ok(members) => {
                let mut keys: Vec<String> = members.keys().map(|key| shortened(key)).collect();
                if keys.len() > NAMED {
                    keys.truncate(NAMED);
                    keys.push("…".to_owned());
                }
                let plural = if keys.len() == 1 { "" } else { "s" };
                return format!("an object with the key{plural} {}", keys.join(", "));
            }
        },
        Some(b'[') => "an array",
        Some(b'"') => match serde_json::from_str::<String>(raw.get()) {
            Ok(_) => "a string",
            Err(_) => "a string with a broken escape",
        },
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    };
    words.to_owned()
}
