//! Maps the strings in a JSON text, and leaves everything else unchanged.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// Maps every string of a JSON text, including keys; `None` if the text is not JSON.
pub(super) fn strings(json: &str, change: impl Fn(&str) -> String) -> Option<String> {
    serde_json::from_str::<&RawValue>(json).ok()?;
    let mut changed = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(start) = rest.find('"') {
        changed.push_str(&rest[..start]);
        let end = start + length(&rest[start..]);
        let text: String = serde_json::from_str(&rest[start..end]).ok()?;
        match change(&text) {
            same if same == text => changed.push_str(&rest[start..end]),
            other => changed.push_str(&Value::from(other).to_string()),
        }
        rest = &rest[end..];
    }
    changed.push_str(rest);
    Some(changed)
}

/// Maps the members of an object, in order; `None` if the text is not an object, or the function returns `None`.
pub(super) fn members(json: &str, change: impl Fn(&str, &str) -> Option<String>) -> Option<String> {
    let Members(members) = serde_json::from_str(json).ok()?;
    let changed = members.iter().map(|(key, value)| {
        let value = change(key, value.get())?;
        Some(format!("{}:{value}", Value::from(key.as_str())))
    });
    Some(format!("{{{}}}", changed.collect::<Option<Vec<_>>>()?.join(",")))
}

/// Returns the length of the string at the beginning of a valid JSON text, including quotes.
fn length(json: &str) -> usize {
    let mut is_escaped = false;
    let end = json.bytes().skip(1).position(|byte| match byte {
        _ if is_escaped => {
            is_escaped = false;
            false
        }
        b'\\' => {
            is_escaped = true;
            false
        }
        byte => byte == b'"',
    });
    end.map_or(json.len(), |end| end + 2)
}

struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OrderedVisitor;

        impl<'de> Visitor<'de> for OrderedVisitor {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(OrderedVisitor)
    }
}
