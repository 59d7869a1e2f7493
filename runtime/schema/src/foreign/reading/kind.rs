//! Reads `type` and `nullable`.

use serde_json::{Map, Value, json};

use super::Reading;
use crate::foreign::types::{self, Meaning};
use toolwright_core::input::shorten;

impl Reading<'_> {
    pub(super) fn kind(&mut self, schema: &mut Map<String, Value>, value: &Value) {
        let names = match value {
            Value::Array(names) => names.as_slice(),
            name => std::slice::from_ref(name),
        };
        if names.is_empty() {
            self.problem(
                "found no type, expected at least one; leave `type` out where any value is taken",
            );
            return;
        }
        let mut kinds: Vec<&str> = Vec::with_capacity(names.len());
        let mut anything = false;
        for name in names {
            let Some(name) = name.as_str() else {
                let found = shorten(&name.to_string());
                self.problem(format!("found {found}, expected the name of a type"));
                continue;
            };
            match types::meaning(name, self.names) {
                Meaning::Own(kind) if kinds.contains(&kind) => {}
                Meaning::Own(kind) => kinds.push(kind),
                Meaning::Mapped(kind, lost) => {
                    match kind {
                        Some(kind) => self.note(format!("type \"{name}\" is read as \"{kind}\"")),
                        None => self.note(format!("type \"{name}\" is read as any value")),
                    }
                    lost.into_iter().for_each(|words| tell(schema, words));
                    match kind {
                        Some(kind) if kinds.contains(&kind) => {}
                        Some(kind) => kinds.push(kind),
                        None => anything = true,
                    }
                }
                Meaning::Unknown => {
                    let (name, instead) = (shorten(name), types::instead(name));
                    let comma = if instead.starts_with("expected") { "," } else { ";" };
                    self.problem(format!(
                        "type \"{name}\" is no type of JSON Schema{comma} {instead}"
                    ));
                }
            }
        }
        match kinds.as_slice() {
            _ if anything => {}
            [] => {}
            [only] => {
                schema.insert("type".into(), (*only).into());
            }
            several => {
                schema.insert("type".into(), json!(several));
            }
        }
    }

    /// Reads `nullable`, the keyword of `OpenAPI` for a value that may be null.
    pub(super) fn nullable(
        &mut self,
        source: &Map<String, Value>,
        schema: &mut Map<String, Value>,
    ) {
        let Some(nullable) = source.get("nullable") else { return };
        match (nullable, schema.get_mut("type")) {
            (Value::Bool(false), _) => {}
            (Value::Bool(true), Some(kinds)) => {
                match kinds {
                    Value::Array(kinds) if !kinds.iter().any(|kind| kind == "null") => {
                        kinds.push("null".into());
                    }
                    Value::String(kind) if kind != "null" => *kinds = json!([kind, "null"]),
                    _ => {}
                }
                let choices = schema.get("enum").and_then(Value::as_array);
                if choices.is_some_and(|choices| !choices.contains(&Value::Null)) {
                    self.within("nullable", |reading| {
                        reading.note("`nullable` says nothing, because null is not in `enum`");
                    });
                }
            }
            (Value::Bool(true), None) => self.within("nullable", |reading| {
                reading.note(
                    "`nullable` says nothing without `type`; to take null, list it in `anyOf`",
                );
            }),
            _ => self.within("nullable", |reading| {
                reading.note("`nullable` is neither true nor false; left out");
            }),
        }
    }
}

/// Appends a text to a description, unless the description already contains it.
fn tell(schema: &mut Map<String, Value>, words: &str) {
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let start = words.trim_end_matches('.').split(':').next().unwrap_or(words).to_lowercase();
    let start = start.trim_start_matches("a ").trim_start_matches("one ");
    if description.to_lowercase().contains(start) {
        return;
    }
    let gap = if description.is_empty() { "" } else { " " };
    schema.insert("description".into(), format!("{description}{gap}{words}").into());
}
