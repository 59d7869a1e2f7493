//! A JSON object as its entries, in the order in which they are written and with unchanged values.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

#[derive(Debug)]
pub(super) struct Entries<'a>(pub(super) Vec<(String, &'a RawValue)>);

/// Returns the entries of a JSON object in their order; `None` for any other value.
pub(super) fn entries(json: &str) -> Option<Vec<(String, &RawValue)>> {
    serde_json::from_str::<Entries<'_>>(json).ok().map(|Entries(entries)| entries)
}

/// Writes a JSON object with these entries, whose values are JSON text.
pub(super) fn object<'a>(entries: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let entry = |(key, json): (&str, String)| format!("{}:{json}", text(key));
    format!("{{{}}}", entries.into_iter().map(entry).collect::<Vec<_>>().join(","))
}

/// Writes a text as a JSON string.
pub(super) fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Entries<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Entries(entries))
    }
}
