//! Limits the size and the depth of a schema, so that all later code may recurse into the schema.

use serde_json::Value;

use toolwright_core::schema::SchemaProblem;

/// The maximum nesting depth of arrays and objects. `serde_json` has the same limit.
pub(super) const DEEPEST: usize = 128;
/// The maximum number of values in the document that contains the schema.
pub(super) const LARGEST: usize = 200_000;

pub(super) fn check(document: &Value) -> Result<(), SchemaProblem> {
    let mut values = 0;
    let mut level: Vec<&Value> = vec![document];
    // Visits the document level by level, so that the stack does not grow with the nesting depth.
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

/// Returns the number of JSON values in a schema.
pub(super) fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(object) => object.values().map(size).sum(),
        _ => 0,
    }
}

/// Returns the nesting depth of a schema.
pub(super) fn depth(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(depth).max().unwrap_or(0),
        Value::Object(object) => object.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
