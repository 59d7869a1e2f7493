//! Finds the recursive definitions of a schema.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use toolwright_core::json::reference;

/// Returns the name of the definition to which a reference leads. The root has the empty name.
pub(super) fn target(reference: &str) -> Option<String> {
    if reference == "#" {
        return Some(String::new());
    }
    reference::definition(reference).map(Cow::into_owned)
}

/// Returns the schema to which a reference leads.
pub(super) fn definition<'v>(root: &'v Value, reference: &str) -> Option<&'v Value> {
    match target(reference)?.as_str() {
        "" => Some(root),
        name => root.get("$defs")?.get(name),
    }
}

/// The references between definitions: for each definition, the names of the definitions to which it refers.
pub(super) struct Graph(BTreeMap<String, BTreeSet<String>>);

impl Graph {
    /// Collects the references of a schema. References below optional properties are included only if `with_optional`
    /// is true.
    pub(super) fn of(root: &Value, with_optional: bool) -> Self {
        let none = Map::new();
        let definitions = root.get("$defs").and_then(Value::as_object).unwrap_or(&none);
        let roots = definitions.iter().map(|(name, schema)| (name.as_str(), schema));
        let edges = roots.chain([("", root)]).map(|(name, schema)| {
            let mut targets = BTreeSet::new();
            collect(schema, with_optional, &mut targets);
            (name.to_owned(), targets)
        });
        Self(edges.collect())
    }

    /// Lists the definitions that refer to themselves, directly or indirectly.
    pub(super) fn recursive(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str).filter(|name| self.returns(name))
    }

    fn returns(&self, start: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![start];
        while let Some(name) = open.pop() {
            for next in self.0.get(name).into_iter().flatten() {
                if next == start {
                    return true;
                }
                if seen.insert(next.as_str()) {
                    open.push(next);
                }
            }
        }
        false
    }
}

fn collect(schema: &Value, with_optional: bool, targets: &mut BTreeSet<String>) {
    // A list of open schemas is used instead of recursion, so that deep nesting cannot overflow the stack.
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        match schema {
            Value::Object(object) => {
                if let Some(name) = object.get("$ref").and_then(Value::as_str).and_then(target) {
                    targets.insert(name);
                }
                let required: Vec<&str> = object
                    .get("required")
                    .and_then(Value::as_array)
                    .map(|names| names.iter().filter_map(Value::as_str).collect())
                    .unwrap_or_default();
                for (keyword, inner) in object {
                    match (keyword.as_str(), inner) {
                        ("$defs" | "enum" | "const" | "default" | "examples", _) => {}
                        ("properties", Value::Object(properties)) => open.extend(
                            properties
                                .iter()
                                .filter(|(name, _)| {
                                    with_optional || required.contains(&name.as_str())
                                })
                                .map(|(_, schema)| schema),
                        ),
                        _ => open.push(inner),
                    }
                }
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
}
