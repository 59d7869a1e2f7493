//! Limits the size of a schema, so that all later code may recurse along it.

use serde_json::Value;

use toolwright_core::schema::SchemaProblem;

/// The maximum nesting of arrays and objects, as in `serde_json`.
pub(super) const DEEPEST: usize = 128;
/// The maximum number of values in the document that contains the schema.
pub(super) const LARGEST: usize = 200_000;

pub(super) fn check(document: &Value) -> Result<(), SchemaProblem> {
    let mut values = 0;
    let mut level: Vec<&Value> = vec![document];
    // This goes through the levels one by one, so that the stack does not grow with the nesting.
    for _ in 0..=DEEPEST {
        values += level.len();
        if values > LARGEST {
            return Err(SchemaProblem::new("", too_large()));
        }
        let mut next = Vec::new();
        for value in level {
            match value {
                Value::Array(items) => next.extend(items),
                Value::Object(object) => next.extend(object.values()),
                _ => {}
            }
        }
        if next.is_empty() {
            return Ok(());
        }
        level = next;
    }
    let message = format!(
        "the schema nests deeper than {DEEPEST} levels; name inner schemas in `$defs` and refer to them"
    );
    Err(SchemaProblem::new("", message))
}

pub(super) fn too_large() -> String {
    format!("the schema has more than {LARGEST} values; send only what the tool needs")
}

/// Counts the JSON values of which a schema consists.
pub(super) fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(object) => object.values().map(size).sum(),
        _ => 0,
    }
}

/// Counts the levels of a schema.
pub(super) fn depth(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(depth).max().unwrap_or(0),
        Value::Object(object) => object.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
