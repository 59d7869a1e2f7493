//! A schema in somebody else's type names, as JSON Schema.
//!
//! The least that lets the dialects read real definitions; everything about it is behind [`input_schema`].

use serde_json::{Map, Value};

/// The same schema by the type names of JSON Schema.
///
/// # Errors
/// Every type name that is not known, with its place.
pub fn input_schema(parameters: &Value) -> Result<Value, Vec<String>> {
    let mut problems = Vec::new();
    let schema = translated(parameters, "", &mut problems);
    if problems.is_empty() { Ok(schema) } else { Err(problems) }
}

fn translated(schema: &Value, pointer: &str, problems: &mut Vec<String>) -> Value {
    let Value::Object(object) = schema else { return schema.clone() };
    let mut out = Map::new();
    for (keyword, value) in object {
        let below = format!("{pointer}/{keyword}");
        match (keyword.as_str(), value) {
            // The leaderboard's own word, which says what `required` says.
            ("optional", _) => {}
            ("type", Value::String(name)) => match type_name(name) {
                Some("") => {}
                Some(known) => {
                    out.insert("type".to_owned(), known.into());
                }
                None => problems.push(format!("{below}: no type is called `{name}`")),
            },
            ("properties", Value::Object(properties)) => {
                let properties: Map<String, Value> = properties
                    .iter()
                    .map(|(name, it)| {
                        (name.clone(), translated(it, &format!("{below}/{name}"), problems))
                    })
                    .collect();
                out.insert(keyword.clone(), properties.into());
            }
            ("items" | "additionalProperties", _) => {
                out.insert(keyword.clone(), translated(value, &below, problems));
            }
            _ => {
                out.insert(keyword.clone(), value.clone());
            }
        }
    }
    out.into()
}

/// The name in JSON Schema; empty for a value of any type.
fn type_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "string" | "String" | "char" => "string",
        "integer" | "long" => "integer",
        "number" | "float" | "double" => "number",
        "boolean" | "Boolean" => "boolean",
        "array" | "Array" | "ArrayList" | "tuple" => "array",
        "object" | "dict" | "HashMap" => "object",
        "null" => "null",
        "any" => "",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::input_schema;

    #[test]
    fn type_names_are_translated_at_every_depth_and_properties_may_be_called_like_keywords() {
        let foreign = json!({"type": "dict", "properties": {
            "type": {"type": "float"},
            "items": {"type": "tuple", "items": {"type": "any"}, "optional": true},
        }});
        let ours = json!({"type": "object", "properties": {
            "type": {"type": "number"},
            "items": {"type": "array", "items": {}},
        }});
        assert_eq!(input_schema(&foreign), Ok(ours));
    }

    #[test]
    fn an_unknown_type_name_is_told_with_its_place() {
        let problems = input_schema(&json!({"properties": {"a": {"type": "Widget"}}})).unwrap_err();
        assert_eq!(problems, ["/properties/a/type: no type is called `Widget`"]);
    }
}
