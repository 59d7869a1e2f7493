//! Translates `nullable: true` of `OpenAPI` 3.0 to JSON Schema. Documents also use `nullable` beside references,
//! choices and enumerations, where the specification gives it no meaning. The functions are pure.

use serde_json::{Map, Value, json};

/// Returns the schema that also accepts `null`.
pub(super) fn or_null(mut schema: Map<String, Value>) -> Value {
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    let applies =
        ["$ref", "allOf", "anyOf", "oneOf", "not"].iter().any(|it| schema.contains_key(*it));
    match schema.get_mut("type") {
        Some(kind @ Value::String(_)) => {
            let name = kind.take();
            *kind = if name == "null" { name } else { json!([name, "null"]) };
        }
        Some(Value::Array(kinds)) if !kinds.contains(&json!("null")) => kinds.push(json!("null")),
        Some(_) => {}
        // A schema that refers to other schemas accepts the values that these accept, so `null` becomes an alternative.
        None if applies => {
            let mut choice = Map::new();
            if let Some(description) = schema.remove("description") {
                choice.insert("description".to_owned(), description);
            }
            choice.insert("anyOf".to_owned(), json!([schema, {"type": "null"}]));
            return Value::Object(choice);
        }
        // A schema without constraints already accepts `null`.
        None => {}
    }
    Value::Object(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_taken_wherever_the_document_says_nullable() {
        for (written, expected) in [
            (json!({"type": "string"}), json!({"type": ["string", "null"]})),
            (json!({"type": ["string"]}), json!({"type": ["string", "null"]})),
            (
                json!({"type": "string", "enum": ["a"]}),
                json!({"type": ["string", "null"], "enum": ["a", null]}),
            ),
            (
                json!({"$ref": "#/$defs/A", "description": "d"}),
                json!({"description": "d", "anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}),
            ),
            (json!({"minLength": 1}), json!({"minLength": 1})),
        ] {
            let Value::Object(written) = written else { panic!("an object") };
            assert_eq!(or_null(written), expected);
        }
    }
}
