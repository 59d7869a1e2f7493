//! References inside a schema: where they lead, and whether they come back.

use std::collections::BTreeSet;

use serde_json::Value;

use super::places;

/// The reference that the schema is.
pub(super) fn of(schema: &Value) -> Option<&str> {
    schema.get("$ref").and_then(Value::as_str)
}

/// What a reference leads to: the root, or a place in it by JSON pointer.
pub(super) fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    root.pointer(pointer)
}

/// The places from which a chain of references and parts leads back to where it began, where `stops` does
/// not cut the chain at a part.
pub(super) fn cycles(root: &Value, stops: fn(&Value, &str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut done = BTreeSet::new();
    for place in places::all(root, "") {
        if let Some(reference) = of(place.schema)
            && done.insert(reference.to_owned())
            && comes_back(root, reference, stops)
        {
            found.push(reference.to_owned());
        }
    }
    found
}

fn comes_back(root: &Value, reference: &str, stops: fn(&Value, &str) -> bool) -> bool {
    let mut seen = BTreeSet::new();
    let mut waiting: Vec<String> = vec![reference.to_owned()];
    while let Some(current) = waiting.pop() {
        let Some(schema) = target(root, &current) else { continue };
        for next in reachable(schema, stops) {
            if next == reference {
                return true;
            }
            if seen.insert(next.to_owned()) {
                waiting.push(next.to_owned());
            }
        }
    }
    false
}

/// The references in a schema that a value of it cannot do without, or all, as `stops` says. Definitions
/// are no part of the value.
fn reachable(schema: &Value, stops: fn(&Value, &str) -> bool) -> Vec<&str> {
    let mut found: Vec<&str> = of(schema).into_iter().collect();
    let Some(object) = schema.as_object() else { return found };
    for (keyword, value) in object {
        match (keyword.as_str(), value) {
            ("$defs" | "definitions" | "enum" | "const" | "default" | "examples", _) => {}
            ("properties", Value::Object(properties)) => {
                for (name, it) in properties {
                    if !stops(schema, name) {
                        found.extend(reachable(it, stops));
                    }
                }
            }
            (_, Value::Object(_)) => found.extend(reachable(value, stops)),
            (_, Value::Array(list)) => {
                found.extend(list.iter().flat_map(|it| reachable(it, stops)));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::cycles;

    #[test]
    fn a_type_that_contains_itself_is_a_cycle_and_a_diamond_is_none() {
        let never = |_: &serde_json::Value, _: &str| false;
        let list = json!({"$ref": "#/$defs/Node", "$defs": {
            "Node": {"properties": {"next": {"$ref": "#/$defs/Node"}}},
        }});
        assert_eq!(cycles(&list, never), ["#/$defs/Node"]);
        let diamond = json!({"properties": {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#/$defs/B"}}, "$defs": {
            "A": {"$ref": "#/$defs/C"}, "B": {"$ref": "#/$defs/C"}, "C": {"type": "string"},
        }});
        assert!(cycles(&diamond, never).is_empty());
    }
}
