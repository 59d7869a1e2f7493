//! Finds the schemas inside a schema.

use serde_json::{Map, Value};

use crate::json::pointer::below;

/// The keywords whose value is one schema.
pub const ONE: &[&str] = &[
    "items",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "not",
    "contains",
    "if",
    "then",
    "else",
];
/// The keywords whose value is a list of schemas.
pub const LIST: &[&str] = &["anyOf", "oneOf", "allOf", "prefixItems"];
/// The keywords whose value is a map of schemas.
pub const MAP: &[&str] = &["properties", "patternProperties", "$defs"];

/// Calls `change` with a schema and each of its subschemas, an outer schema before its inner schemas.
pub fn each_schema(schema: &mut Value, change: &mut dyn FnMut(&mut Map<String, Value>)) {
    let Value::Object(object) = schema else { return };
    change(object);
    for (keyword, value) in object.iter_mut() {
        let keyword = keyword.as_str();
        match value {
            inner if ONE.contains(&keyword) => each_schema(inner, change),
            Value::Array(list) if LIST.contains(&keyword) => {
                list.iter_mut().for_each(|inner| each_schema(inner, change));
            }
            Value::Object(map) if MAP.contains(&keyword) => {
                map.values_mut().for_each(|inner| each_schema(inner, change));
            }
            _ => {}
        }
    }
}

/// Collects the pointers of a schema and of every schema inside it, an outer schema before its inner schemas.
pub fn pointers(schema: &Value, at: String, found: &mut Vec<String>) {
    let Value::Object(object) = schema else { return };
    found.push(at.clone());
    for (keyword, value) in object {
        let keyword = keyword.as_str();
        match value {
            inner if ONE.contains(&keyword) => pointers(inner, below(&at, keyword), found),
            Value::Array(list) if LIST.contains(&keyword) => {
                for (index, inner) in list.iter().enumerate() {
                    pointers(inner, below(&below(&at, keyword), &index.to_string()), found);
                }
            }
            Value::Object(map) if MAP.contains(&keyword) => {
                for (name, inner) in map {
                    pointers(inner, below(&below(&at, keyword), name), found);
                }
            }
            _ => {}
        }
    }
}
