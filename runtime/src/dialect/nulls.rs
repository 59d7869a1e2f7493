//! The way back from a form that sends `null` for an absent key: such keys are taken out of the text,
//! and every other byte of it stays.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value, value::RawValue};

use super::parts;
use super::recursion::target;

/// Deeper than this nothing is taken out; the reader says then what is wrong.
const DEPTH: usize = 128;

/// The arguments without the keys that are absent.
pub(super) fn removed<'t>(schema: &Value, text: &'t str) -> Cow<'t, str> {
    if !text.contains("null") {
        return Cow::Borrowed(text);
    }
    let removal = Removal { root: schema };
    removal.value(&[Cow::Borrowed(schema)], text, 0).map_or(Cow::Borrowed(text), Cow::Owned)
}

struct Removal<'a> {
    root: &'a Value,
}

impl<'a> Removal<'a> {
    /// The text of a value that has to fit one of the schemas, where something is taken out of it.
    fn value(&self, schemas: &[Cow<'a, Value>], text: &str, depth: usize) -> Option<String> {
        if depth > DEPTH || !text.contains("null") {
            return None;
        }
        match text.trim_start().as_bytes().first() {
            Some(b'{') => self.object(schemas, text, depth),
            Some(b'[') => self.list(schemas, text, depth),
            _ => None,
        }
    }

    fn object(&self, schemas: &[Cow<'a, Value>], text: &str, depth: usize) -> Option<String> {
        let Entries(entries) = serde_json::from_str(text).ok()?;
        let mut variants = Vec::new();
        schemas.iter().for_each(|schema| self.variants(schema, &mut variants, 0));
        variants.retain(|variant| fits(variant, &entries));
        let mut changed = false;
        let mut written = String::from("{");
        for (key, raw) in &entries {
            let below: Vec<(&Map<String, Value>, &Value)> =
                variants.iter().filter_map(|it| Some((it, property(it, key)?))).collect();
            let is_absent = raw.get() == "null"
                && !below.is_empty()
                && below.iter().all(|(variant, schema)| {
                    !parts::required(variant).any(|it| it == key) && !parts::takes_null(schema)
                });
            if is_absent {
                changed = true;
                continue;
            }
            let inner: Vec<Cow<'a, Value>> =
                below.into_iter().map(|(_, schema)| Cow::Owned(schema.clone())).collect();
            let inner = self.value(&inner, raw.get(), depth + 1);
            changed |= inner.is_some();
            if written.len() > 1 {
                written.push(',');
            }
            written.push_str(&Value::from(key.as_ref()).to_string());
            written.push(':');
            written.push_str(inner.as_deref().unwrap_or(raw.get()));
        }
        written.push('}');
        changed.then_some(written)
    }

    fn list(&self, schemas: &[Cow<'a, Value>], text: &str, depth: usize) -> Option<String> {
        let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
        let mut variants = Vec::new();
        schemas.iter().for_each(|schema| self.variants(schema, &mut variants, 0));
        let mut changed = false;
        let mut written = String::from("[");
        for (index, raw) in items.iter().enumerate() {
            let below: Vec<Cow<'a, Value>> = variants
                .iter()
                .filter_map(|it| {
                    let place = it.get("prefixItems").and_then(|items| items.get(index));
                    place.or_else(|| it.get("items")).cloned().map(Cow::Owned)
                })
                .collect();
            let inner = self.value(&below, raw.get(), depth + 1);
            changed |= inner.is_some();
            if index > 0 {
                written.push(',');
            }
            written.push_str(inner.as_deref().unwrap_or(raw.get()));
        }
        written.push(']');
        changed.then_some(written)
    }

    /// The schemas without choice that a schema comes to.
    fn variants(&self, schema: &Value, variants: &mut Vec<Map<String, Value>>, depth: usize) {
        let Some(object) = schema.as_object().filter(|_| depth < DEPTH) else { return };
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            let definition = target(reference).and_then(|name| match name.as_str() {
                "" => Some(self.root),
                name => self.root.get("$defs")?.get(name),
            });
            definition.into_iter().for_each(|it| self.variants(it, variants, depth + 1));
            return;
        }
        if let Some(choice) = parts::distributed(object) {
            return self.variants(&choice, variants, depth + 1);
        }
        let choices = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|it| object.get(it));
        let mut choices = choices.filter_map(Value::as_array).flatten().peekable();
        if choices.peek().is_none() {
            variants.push(object.clone());
        } else {
            choices.for_each(|choice| self.variants(choice, variants, depth + 1));
        }
    }
}

fn property<'v>(variant: &'v Map<String, Value>, key: &str) -> Option<&'v Value> {
    variant.get("properties")?.get(key)
}

/// Whether the entries have the constants by which a variant is told.
fn fits(variant: &Map<String, Value>, entries: &[(Cow<'_, str>, &RawValue)]) -> bool {
    entries.iter().all(|(key, raw)| {
        match property(variant, key).and_then(|schema| schema.get("const")) {
            Some(only) => serde_json::from_str::<Value>(raw.get()).is_ok_and(|it| it == *only),
            None => true,
        }
    })
}

/// An object's entries as they are written, repeated keys among them.
struct Entries<'t>(Vec<(Cow<'t, str>, &'t RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Entries<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry::<Cow<'de, str>, &'de RawValue>()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_nulls_that_stand_for_nothing_are_taken_out() {
        let schema = json!({
            "type": "object",
            "properties": {
                "a": {"type": "integer"},
                "b": {"type": ["string", "null"]},
                "c": {"type": "array", "items": {"$ref": "#/$defs/C"}},
            },
            "required": ["b"],
            "$defs": {"C": {"type": "object", "properties": {"d": {"$ref": "#/$defs/C"}}}},
        });
        let text = r#"{ "a": null, "b": null, "c": [{"d": null}, {"d": {"d" : null}}, 1e400], "x": null }"#;
        let expected = r#"{"b":null,"c":[{},{"d":{}},1e400],"x":null}"#;
        assert_eq!(removed(&schema, text), expected);
        for same in [r#"{"a":1, "b":"null"}"#, "null", r#"{"a":null"#, r#"{"b":null,"b":null}"#] {
            assert_eq!(removed(&schema, same), same);
        }
    }

    #[test]
    fn a_variant_is_told_by_its_tag() {
        let variant = |kind: &str, required: &[&str]| {
            json!({
                "type": "object",
                "properties": {"kind": {"const": kind}, "at": {"type": ["string", "null"]}},
                "required": required,
            })
        };
        let mut optional = variant("plain", &["kind"]);
        optional["properties"]["at"] = json!({"type": "string"});
        let schema = json!({"oneOf": [optional, variant("nullable", &["kind", "at"])]});
        assert_eq!(removed(&schema, r#"{"kind":"plain","at":null}"#), r#"{"kind":"plain"}"#);
        let same = r#"{"kind":"nullable","at":null}"#;
        assert_eq!(removed(&schema, same), same);
    }
}
