//! Reduces `const` and `enum`.

use serde_json::{Map, Value};

use super::{Draft, Reducer};
use crate::dialect::finding::Rule;
use crate::dialect::node::Node;
use crate::dialect::parts;
use crate::dialect::rules::Constants;

impl Reducer<'_, '_> {
    pub(super) fn constants(
        &mut self,
        draft: &mut Draft,
        types: &[&str],
        object: &Map<String, Value>,
    ) {
        let nullable = types == ["null"];
        if let Some(Value::Array(values)) = object.get("enum") {
            // A constant that the type excludes is never valid, so it is left out.
            let fits = |value: &Value| types.iter().any(|name| parts::fits(value, name));
            let values: Vec<&Value> = values.iter().filter(|value| fits(value)).collect();
            if values.is_empty() {
                let message = format!("none of the choices is of type {}", types.join(" or "));
                self.refuse(Rule::Impossible, message, "give choices of that type");
            } else if values.iter().all(|value| self.sends(value)) {
                draft.put("enum", Node::List(values.into_iter().map(Node::from_sorted).collect()));
            } else {
                let values = Value::Array(values.into_iter().cloned().collect());
                self.tell(draft, "enum", &values);
            }
        }
        match object.get("const") {
            // The type already allows only `null`, so the constant is not needed.
            Some(Value::Null) if nullable => {}
            Some(only) if !self.sends(only) => self.tell(draft, "const", only),
            Some(only) => match self.rules.constants {
                Constants::Any | Constants::Scalars => draft.put("const", Node::from_sorted(only)),
                _ => draft.put("enum", Node::List(vec![Node::from_sorted(only)])),
            },
            None => {}
        }
    }

    /// Returns whether the dialect allows this value as a constant.
    fn sends(&self, value: &Value) -> bool {
        match (self.rules.constants, value) {
            (Constants::Any, _) => true,
            (Constants::Scalars, value) => !value.is_object() && !value.is_array(),
            (_, Value::String(text)) => !text.is_empty(),
            (Constants::TextsAndNumbers, value) => value.is_number(),
            (Constants::Texts, _) => false,
        }
    }
}
