//! Lists the properties of a tool's input from its schema, and finds out which of them are secret.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use toolwright_core::json::pointer::below;
use toolwright_core::json::reference;
use toolwright_core::schema::walk;

/// Keywords whose value maps names to schemas.
const IN_MAPS: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];

/// A property of a tool's input.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct Property<'a> {
    #[doc(hidden)]
    pub name: &'a str,
    #[doc(hidden)]
    pub schema: &'a Value,
    #[doc(hidden)]
    pub required: bool,
    #[doc(hidden)]
    pub secret: bool,
}

/// Lists the properties of an input, with the required ones first in the order of `required`.
#[doc(hidden)]
pub fn of(root: &Value) -> Vec<Property<'_>> {
    let names = root.get("required").and_then(Value::as_array).into_iter().flatten();
    let required: HashMap<&str, usize> = names.filter_map(Value::as_str).zip(0..).collect();
    let properties = root.get("properties").and_then(Value::as_object).into_iter().flatten();
    let mut found: Vec<Property<'_>> = properties
        .map(|(name, schema)| Property {
            name,
            schema,
            required: required.contains_key(name.as_str()),
            secret: is_secret(root, schema),
        })
        .collect();
    found.sort_by_key(|it| required.get(it.name).copied().unwrap_or(usize::MAX));
    found
}

/// Returns whether a schema marks its value, or a part of it at any depth, as secret: by `writeOnly` or by the format
/// `password`, directly or through a reference.
fn is_secret(root: &Value, schema: &Value) -> bool {
    let mut followed: HashSet<&str> = HashSet::new();
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        if says_secret(schema) {
            return true;
        }
        parts(schema, |_, part| open.push(part));
        let is_new = reference::of(schema).is_some_and(|it| followed.insert(it));
        open.extend(reference::target(root, schema).filter(|_| is_new));
    }
    false
}

fn says_secret(schema: &Value) -> bool {
    schema.get("writeOnly") == Some(&Value::Bool(true))
        || schema.get("format").is_some_and(|it| it == "password")
}

/// Finds a secret of an input that is under none of its properties, and returns its place.
pub(super) fn secret_without_a_name(root: &Value) -> Option<String> {
    if says_secret(root) {
        return Some(String::new());
    }
    let mut found = None;
    parts(root, |place, part| {
        if !place.starts_with("/properties/") && is_secret(root, part) {
            found.get_or_insert(place);
        }
    });
    let refers = || reference::target(root, root).is_some_and(|it| is_secret(root, it));
    found.or_else(|| refers().then(|| "/$ref".to_owned()))
}

/// Calls `visit` with each direct subschema of a schema and with its place. Definitions are left out, because
/// [`is_secret`] visits them where a schema references them.
fn parts<'s>(schema: &'s Value, mut visit: impl FnMut(String, &'s Value)) {
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        let word = keyword.as_str();
        let place = below("", word);
        match value {
            part if walk::ONE.contains(&word) => visit(place, part),
            Value::Array(list) if walk::LIST.contains(&word) => {
                let list = list.iter().enumerate();
                list.for_each(|(index, part)| visit(below(&place, &index.to_string()), part));
            }
            Value::Object(map) if IN_MAPS.contains(&word) => {
                map.iter().for_each(|(name, part)| visit(below(&place, name), part));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_says_what_is_secret() {
        let root = json!({"$defs": {
            "Password": {"type": "string", "format": "password"},
            "Login": {"prefixItems": [{"type": "string"}, {"$ref": "#/$defs/Password"}]},
            "Self": {"anyOf": [{"$ref": "#/$defs/Self"}, {"type": "string"}]},
        }});
        for secret in [
            json!({"type": "string", "writeOnly": true}),
            json!({"type": "string", "format": "password"}),
            json!({"$ref": "#/$defs/Password"}),
            json!({"anyOf": [{"$ref": "#/$defs/Password"}, {"type": "null"}]}),
            json!({"type": "object", "properties": {"pin": {"$ref": "#/$defs/Password"}}}),
            json!({"type": "array", "items": {"type": "object", "properties": {"pin": {"writeOnly": true}}}}),
            json!({"type": "object", "additionalProperties": {"$ref": "#/$defs/Password"}}),
            json!({"type": "object", "patternProperties": {"^k": {"$ref": "#/$defs/Login"}}}),
        ] {
            assert!(is_secret(&root, &secret), "{secret}");
        }
        for plain in [
            json!({"type": "string", "writeOnly": false}),
            json!({"type": "string", "format": "email"}),
            json!({"$ref": "#/$defs/Self"}),
            json!({"$ref": "#/$defs/Nobody"}),
            json!(true),
        ] {
            assert!(!is_secret(&root, &plain), "{plain}");
        }
    }
}
