//! Reads the order in which a line lists the properties of its schema: parsing the line to an object loses the order.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

/// Lists the properties of the schema in the order of the line. The list is empty if the order cannot be read.
pub(super) fn of(line: &[u8]) -> Vec<String> {
    let written: Result<WrittenOrder, _> = serde_json::from_slice(line);
    let Ok(mut written) = written else { return Vec::new() };
    if let Some(function) = written.function.take() {
        written = *function;
    }
    written.input_schema.and_then(|schema| schema.properties).unwrap_or_default().0
}

#[derive(Deserialize)]
struct WrittenOrder {
    function: Option<Box<Self>>,
    #[serde(alias = "inputSchema", alias = "parameters", alias = "parametersJsonSchema")]
    input_schema: Option<Schema>,
}

#[derive(Deserialize)]
struct Schema {
    properties: Option<Keys>,
}

#[derive(Default)]
struct Keys(Vec<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Keys;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
        let mut keys = Vec::new();
        while let Some((key, IgnoredAny)) = map.next_entry()? {
            keys.push(key);
        }
        Ok(Keys(keys))
    }
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn properties_are_named_as_they_were_written() {
        let plain =
            br#"{"name":"a","inputSchema":{"properties":{"z":{},"a":{"type":"string"},"m":{}}}}"#;
        assert_eq!(of(plain), ["z", "a", "m"]);
        let wrapped =
            br#"{"type":"function","function":{"parameters":{"properties":{"b":1,"a":2}}}}"#;
        assert_eq!(of(wrapped), ["b", "a"]);
        assert!(of(br#"{"name":"a","input_schema":[]}"#).is_empty());
    }
}
