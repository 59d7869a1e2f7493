//! Writes the beginning of a sample as JSON text, up to one place in the sample. A test then appends another value, to
//! find out whether the type accepts that value at the place. This works only if no enclosing schema constrains the
//! value.

use std::collections::HashMap;

use serde_json::Value;

use super::odd::is_tagged;
use super::sample::{Place, Sample};

/// Writes the text before a place of a sample, if only the place's own schema constrains the value there.
pub(super) struct Openings<'a> {
    value: &'a Value,
    /// For each part of the value: whether the parts inside of it are constrained only by their own schemas.
    lets: HashMap<&'a str, bool>,
}

impl<'a> Openings<'a> {
    pub(super) fn new(document: &Value, sample: &'a Sample) -> Self {
        let mut lets = HashMap::with_capacity(sample.places.len());
        for place in &sample.places {
            let is_plain = || document.pointer(&place.schema).is_some_and(leaves_parts_alone);
            let lets = lets.entry(place.instance.as_str()).or_insert(true);
            *lets = *lets && is_plain();
        }
        Self { value: &sample.value, lets }
    }

    /// Returns the text before the value of a place. Each object in the text has only the key that leads to the place.
    /// `None` if an enclosing schema may constrain the value.
    pub(super) fn before(&self, place: &Place) -> Option<String> {
        let mut text = String::new();
        let mut part = self.value;
        let mut end = 0;
        for segment in place.instance.split('/').skip(1) {
            if self.lets.get(place.instance.get(..end)?) != Some(&true) {
                return None;
            }
            match part {
                Value::Object(object) => {
                    let key = segment.replace("~1", "/").replace("~0", "~");
                    part = object.get(&key)?;
                    text.push('{');
                    text.push_str(&Value::from(key).to_string());
                    text.push(':');
                }
                Value::Array(items) => {
                    let index: usize = segment.parse().ok()?;
                    text.push('[');
                    for item in items.get(..index)? {
                        text.push_str(&item.to_string());
                        text.push(',');
                    }
                    part = items.get(index)?;
                }
                _ => return None,
            }
            end += segment.len() + 1;
        }
        Some(text)
    }
}

/// Returns whether a schema constrains each part of a value only by the schema of that part.
fn leaves_parts_alone(schema: &Value) -> bool {
    const KNOWN: &[&str] = &[
        "type",
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
        "propertyNames",
        "minProperties",
        "maxProperties",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
    ];
    const NOTES: &[&str] = &["description", "default", "examples", "title", "deprecated", "$defs"];
    let Value::Object(object) = schema else { return true };
    let mut says = object.keys().map(String::as_str).filter(|it| !NOTES.contains(it)).peekable();
    match says.peek() {
        Some(&"$ref") => says.count() == 1,
        Some(&"oneOf") => says.count() == 1 && is_tagged(object),
        _ => says.all(|it| KNOWN.contains(&it)),
    }
}
