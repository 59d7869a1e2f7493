//! Reduces schemas for dialects that accept nearly all keywords of JSON Schema.

use serde_json::{Map, Value};

use super::{Reducer, limit};
use crate::dialect::node::Node;

impl Reducer<'_, '_> {
    /// Writes a schema with its keywords, in order. Only what the dialect refuses is changed, and the limits of 64-bit
    /// and 128-bit types are left out.
    pub(super) fn plain(&mut self, object: &Map<String, Value>) -> Node {
        let mut draft = self.draft(object);
        let folds = object.contains_key("prefixItems") && !self.rules.tuples;
        if folds {
            self.list(&mut draft, object);
        }
        // The keywords are sorted, so that the order of the sentences in the description is always the same.
        let mut keywords: Vec<_> = object.iter().collect();
        keywords.sort_by_key(|(keyword, _)| *keyword);
        for (keyword, value) in keywords {
            let is_written = match keyword.as_str() {
                "description" => true,
                "prefixItems" | "items" => folds,
                _ => limit::is_natural(object, keyword),
            };
            if is_written {
                continue;
            }
            if self.is_refused_in_root(keyword) {
                self.tell(&mut draft, keyword, value);
                continue;
            }
            let node = match (keyword.as_str(), value) {
                ("properties", Value::Object(properties)) => self.properties(properties),
                ("patternProperties" | "$defs" | "dependentSchemas", Value::Object(schemas)) => {
                    let schemas = schemas.iter();
                    let mut entries: Vec<_> = schemas
                        .map(|(name, schema)| {
                            (name.clone(), self.at(&[keyword, name], |it| it.schema(schema)))
                        })
                        .collect();
                    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
                    Node::Object(entries)
                }
                ("required", Value::Array(_)) => self.required_in_order(object),
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                    Node::List(self.each(keyword, schemas))
                }
                (
                    "items"
                    | "additionalProperties"
                    | "unevaluatedProperties"
                    | "propertyNames"
                    | "not"
                    | "contains"
                    | "if"
                    | "then"
                    | "else",
                    Value::Object(_),
                ) => self.at(&[keyword], |it| it.schema(value)),
                _ => Node::from_sorted(value),
            };
            draft.put(keyword, node);
        }
        if self.depth == 1 && !object.contains_key("properties") {
            draft.put("properties", Node::Object(Vec::new()));
        }
        let is_open_list = object.get("type").and_then(Value::as_str) == Some("array")
            && !["items", "prefixItems"].iter().any(|it| object.contains_key(*it));
        if is_open_list && !self.rules.open_lists {
            self.refuse_open_list();
        }
        draft.finish()
    }
}
