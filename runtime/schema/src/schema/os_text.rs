//! Refuses types that contain an `OsString`. In JSON, an `OsString` is `{"Unix": [bytes]}` or `{"Windows": [units]}`,
//! which no model writes.

use std::ffi::OsString;
use std::sync::LazyLock;

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

use super::{SchemaProblem, limits};
use toolwright_core::json::pointer::below;

static OWN: LazyLock<Value> = LazyLock::new(|| {
    limits::tighten(Value::from(OsString::json_schema(&mut SchemaGenerator::default())))
});

/// Refuses a schema that contains the schema of `OsString`.
pub(super) fn refuse(
    schema: &Value,
    definitions: &Map<String, Value>,
) -> Result<(), SchemaProblem> {
    let Some(choices) = OWN.get("oneOf") else { return Ok(()) };
    let parts = definitions.iter().map(|(name, schema)| (below("/$defs", name), schema));
    let mut parts = std::iter::once((String::new(), schema)).chain(parts);
    match parts.find_map(|(pointer, part)| find(part, choices, pointer)) {
        Some(pointer) => Err(SchemaProblem::new(
            pointer,
            "an `OsString` is a list of bytes in JSON; take a `PathBuf` for a path, a `String` for text",
        )),
        None => Ok(()),
    }
}

fn find(schema: &Value, choices: &Value, pointer: String) -> Option<String> {
    match schema {
        Value::Object(object) if object.get("oneOf") == Some(choices) => Some(pointer),
        Value::Object(object) => {
            object.iter().find_map(|(key, value)| find(value, choices, below(&pointer, key)))
        }
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| find(item, choices, format!("{pointer}/{index}")))
        }
        _ => None,
    }
}
