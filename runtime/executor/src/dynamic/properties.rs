//! What is known of the keys of an input of which there is only a schema.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use toolwright_core::json::reference;

/// A key of an input.
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

/// The keys of an input, required ones first in the order of `required`.
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

/// Whether a schema says that what it describes is secret: by `writeOnly` or by the format `password`, itself, in a
/// variant or where it refers to.
fn is_secret(root: &Value, schema: &Value) -> bool {
    let mut followed: HashSet<&str> = HashSet::new();
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        let says = |keyword: &str, value: Value| schema.get(keyword) == Some(&value);
        if says("writeOnly", true.into()) || says("format", "password".into()) {
            return true;
        }
        let parts = ["anyOf", "oneOf", "allOf"].into_iter();
        open.extend(parts.filter_map(|it| schema.get(it)?.as_array()).flatten());
        let is_new = reference::of(schema).is_some_and(|it| followed.insert(it));
        open.extend(reference::target(root, schema).filter(|_| is_new));
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_says_what_is_secret() {
        let root = json!({"$defs": {
            "Password": {"type": "string", "format": "password"},
            "Self": {"anyOf": [{"$ref": "#/$defs/Self"}, {"type": "string"}]},
        }});
        for secret in [
            json!({"type": "string", "writeOnly": true}),
            json!({"type": "string", "format": "password"}),
            json!({"$ref": "#/$defs/Password"}),
            json!({"anyOf": [{"$ref": "#/$defs/Password"}, {"type": "null"}]}),
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
