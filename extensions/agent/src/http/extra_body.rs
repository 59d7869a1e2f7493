//! Adds the application's members to the body of every request. The functions are pure.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::HttpModelError;
use crate::model::ModelError;

/// The members that the request itself writes: the history, the tools that the history's calls name, the model, and how
/// the answer is sent.
///
/// The names are in lower case without underscores, because some servers read `system_instruction` as
/// `systemInstruction`.
const OWN: [&str; 15] = [
    "background",
    "cachedcontent",
    "model",
    "messages",
    "input",
    "contents",
    "system",
    "systeminstruction",
    "instructions",
    "tools",
    "stream",
    "streamoptions",
    "store",
    "previousresponseid",
    "conversation",
];

/// The members that the application adds to the body of every request.
#[derive(Debug, Default)]
pub(super) struct ExtraBody(Map<String, Value>);

impl ExtraBody {
    /// Takes the members of an object, and refuses members that would break the history.
    pub(super) fn new(extra: Value) -> Result<Self, HttpModelError> {
        let members = match extra {
            Value::Object(members) => members,
            other => {
                let found = other.to_string().chars().take(60).collect();
                return Err(HttpModelError::ExtraBody { found });
            }
        };
        match members.keys().find(|name| OWN.contains(&&*name.replace('_', "").to_lowercase())) {
            Some(name) => Err(HttpModelError::ExtraMember { name: name.clone() }),
            None => Ok(Self(members)),
        }
    }

    /// Adds a member, unless the application has given one with that name.
    pub(super) fn add(&mut self, name: &str, value: Value) {
        self.0.entry(name).or_insert(value);
    }

    /// Adds the members to a body. An object is merged into the body's object of that name; any other value replaces
    /// the value in the body.
    pub(super) fn added_to(&self, body: String) -> Result<String, ModelError> {
        if self.0.is_empty() {
            return Ok(body);
        }
        let unwritten = |error: serde_json::Error| {
            let message = format!("the members of `extra_body` cannot be added: {error}");
            ModelError::new("invalid_settings", message).caused_by(error)
        };
        let mut members: Members = serde_json::from_str(&body).map_err(unwritten)?;
        for (name, extra) in &self.0 {
            let extra = |own: Option<&RawValue>| {
                let own = own.and_then(|own| serde_json::from_str(own.get()).ok());
                RawValue::from_string(merged(own, extra).to_string())
            };
            match members.0.iter_mut().find(|(own, _)| own == name) {
                Some((_, own)) => *own = extra(Some(own)).map_err(unwritten)?,
                // The member is inserted before the history, which grows from request to request, so that the prefix
                // cache stays valid.
                None => members.0.insert(0, (name.clone(), extra(None).map_err(unwritten)?)),
            }
        }
        serde_json::to_string(&members).map_err(unwritten)
    }
}

fn merged(own: Option<Value>, extra: &Value) -> Value {
    match (own, extra) {
        (Some(Value::Object(mut own)), Value::Object(extra)) => {
            for (name, extra) in extra {
                let value = merged(own.remove(name), extra);
                own.insert(name.clone(), value);
            }
            Value::Object(own)
        }
        (_, extra) => extra.clone(),
    }
}

/// The members of an object in order, each as raw JSON.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BodyVisitor;
        impl<'de> Visitor<'de> for BodyVisitor {
            type Value = Members;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(BodyVisitor)
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn added(extra: Value, body: &str) -> String {
        ExtraBody::new(extra).unwrap().added_to(body.to_owned()).unwrap()
    }

    #[test]
    fn members_are_added_before_the_history_and_the_rest_stays_as_it_was_written() {
        let body = r#"{"model":"m","options":{"a":1,"b":{"c":2}},"messages":[{"n":1.00}]}"#;
        assert_eq!(
            added(json!({"top_k": 4}), body),
            r#"{"top_k":4,"model":"m","options":{"a":1,"b":{"c":2}},"messages":[{"n":1.00}]}"#
        );
        let merged = added(json!({"options": {"b": {"d": 3}, "a": 7}}), body);
        let merged: Value = serde_json::from_str(&merged).unwrap();
        assert_eq!(merged["options"], json!({"a": 7, "b": {"c": 2, "d": 3}}));
        assert_eq!(added(json!({}), body), body);
    }

    #[test]
    fn what_would_break_the_history_is_refused_by_name() {
        for name in OWN {
            let error = ExtraBody::new(json!({ name: [] })).unwrap_err().to_string();
            assert!(error.contains(&format!("`{name}`")), "{error}");
        }
        let error = ExtraBody::new(json!([1])).unwrap_err().to_string();
        assert!(error.contains("found `[1]`, expected an object"), "{error}");
    }
}
