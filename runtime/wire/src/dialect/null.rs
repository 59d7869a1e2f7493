//! Determines whether a schema accepts `null`.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::parts;
use super::recursion::definition;

/// Returns whether a schema accepts `null`. References are resolved in `root`.
pub(super) fn fits(root: &Value, schema: &Value) -> bool {
    NullCheck { root, references: HashMap::new() }.takes(schema)
}

struct NullCheck<'a> {
    root: &'a Value,
    /// The results for references. While a reference is being resolved, its result is `false`, so that cycles end.
    references: HashMap<&'a str, bool>,
}

impl<'a> NullCheck<'a> {
    fn takes(&mut self, schema: &'a Value) -> bool {
        let object = match schema {
            Value::Bool(anything) => return *anything,
            Value::Object(object) => object,
            _ => return false,
        };
        let all = object.get("allOf").and_then(Value::as_array);
        takes_itself(object)
            && object.get("$ref").and_then(Value::as_str).is_none_or(|it| self.behind(it))
            && all.is_none_or(|all| all.iter().all(|it| self.takes(it)))
            && ["anyOf", "oneOf"].into_iter().all(|keyword| {
                let choice = object.get(keyword).and_then(Value::as_array);
                choice.is_none_or(|choice| choice.iter().any(|it| self.takes(it)))
            })
    }

    fn behind(&mut self, reference: &'a str) -> bool {
        if let Some(known) = self.references.get(reference) {
            return *known;
        }
        self.references.insert(reference, false);
        let takes = definition(self.root, reference).is_some_and(|it| self.takes(it));
        self.references.insert(reference, takes);
        takes
    }
}

/// Returns whether the type and the constants of a schema allow `null`.
fn takes_itself(object: &Map<String, Value>) -> bool {
    let types = parts::types(object);
    (types.is_empty() || types.contains(&"null"))
        && parts::constants(object).is_none_or(|values| values.contains(&Value::Null))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_and_parts_are_followed() {
        let root = json!({"$defs": {
            "Json": {"anyOf": [{"$ref": "#/$defs/Json"}, {"type": "null"}]},
            "Loop": {"$ref": "#/$defs/Loop"},
            "Text": {"type": "string"},
        }});
        let takes = |schema: Value| fits(&root, &schema);
        assert!(takes(json!({"$ref": "#/$defs/Json"})));
        assert!(takes(json!({"allOf": [{"$ref": "#/$defs/Json"}, {"$ref": "#/$defs/Json"}]})));
        assert!(takes(json!({})));
        assert!(!takes(json!({"$ref": "#/$defs/Loop"})));
        assert!(!takes(json!({"$ref": "#/$defs/Text"})));
        assert!(!takes(json!({"allOf": [{"$ref": "#/$defs/Json"}, {"$ref": "#/$defs/Text"}]})));
        assert!(!takes(json!({"type": ["string", "null"], "enum": ["a"]})));
    }
}
