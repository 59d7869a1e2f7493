//! What a schema asks for, in words for a message.

use serde_json::Value;

/// `a string`, `an integer`, `one of "a" or "b"`.
pub(crate) fn expected(schema: &Value) -> String {
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        let choices: Vec<String> = choices.iter().map(Value::to_string).collect();
        return format!("one of {}", choices.join(", "));
    }
    if let Some(only) = schema.get("const") {
        return only.to_string();
    }
    for keyword in ["oneOf", "anyOf"] {
        if schema.get("type").is_none()
            && let Some(choices) = schema.get(keyword).and_then(Value::as_array)
        {
            let mut words: Vec<String> = choices.iter().map(expected).collect();
            words.dedup();
            return words.join(" or ");
        }
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => "a string",
        Some("integer") => "an integer",
        Some("number") => "a number",
        Some("boolean") => "true or false",
        Some("array") => "a list",
        Some("object") => "an object",
        Some("null") => "null",
        _ => "a value",
    }
    .to_owned()
}
