//! Reduces references. A reference is sent with the keywords next to it, sent alone, or replaced by its target.

use serde_json::{Map, Value};

use super::{Draft, Reducer};
use crate::dialect::finding::Rule;
use crate::dialect::node::{self, Node};
use crate::dialect::parts;
use crate::dialect::recursion::{self, Graph};
use crate::dialect::rules::{Recursion, References};

impl<'a> Reducer<'a, '_> {
    pub(super) fn reference(&mut self, object: &Map<String, Value>) -> Node {
        let reference = object.get("$ref").and_then(Value::as_str).unwrap_or_default();
        let Some(definition) = self.definition(reference) else {
            let message = format!("`{reference}` leads to no definition of this schema");
            self.refuse(Rule::Reference, message, "define it under `$defs`");
            return Node::Object(Vec::new());
        };
        if self.rules.references == References::Inlined {
            return self.inline(reference, definition, object);
        }
        let mut draft = self.draft(object);
        for (keyword, value) in node::in_order(object) {
            match keyword {
                "$ref" | "description" => {}
                "$defs" => self.definitions(&mut draft, value),
                _ if self.rules.plain() && !self.is_refused_in_root(keyword) => {
                    draft.put(keyword, Node::from_sorted(value))
                }
                _ => self.tell(&mut draft, keyword, value),
            }
        }
        let link = ("$ref".to_owned(), Node::text(reference));
        let stands_alone =
            draft.keywords.is_empty() && draft.description.is_empty() && draft.sentences.is_empty();
        if stands_alone || self.rules.references == References::Kept {
            draft.keywords.push(link);
        } else {
            // The reference is put into `anyOf`, because providers ignore keywords next to a reference.
            draft.put("anyOf", Node::List(vec![Node::schema(vec![link])]));
        }
        draft.finish()
    }

    pub(super) fn definition(&self, reference: &str) -> Option<&'a Value> {
        recursion::definition(self.root, reference)
    }

    fn inline(&mut self, reference: &str, definition: &Value, beside: &Map<String, Value>) -> Node {
        let mut whole = match definition {
            Value::Object(definition) => definition.clone(),
            // The target accepts any value, so only the keywords next to the reference apply.
            Value::Bool(true) => Map::new(),
            other => return self.schema(other),
        };
        whole.remove("$defs");
        let mut beside = beside.clone();
        beside.remove("$ref");
        for annotation in ["description", "default", "examples", "title"] {
            let Some(mut outer) = beside.remove(annotation) else { continue };
            if let ("description", Some(Value::String(inner)), Value::String(outer)) =
                (annotation, whole.get(annotation), &mut outer)
                && inner != outer
            {
                *outer = format!("{outer}\n\n{inner}");
            }
            whole.insert(annotation.into(), outer);
        }
        if !parts::fold(&mut whole, &beside) {
            let message = format!(
                "what is beside the reference to `{reference}` contradicts what it leads to"
            );
            self.refuse(Rule::Unsupported, message, "describe what they come to together");
            return Node::Object(Vec::new());
        }
        self.replacing(&[reference.to_owned()], |it| it.schema(&Value::Object(whole)))
    }

    /// Runs `work`, which writes the targets of the references. If one of them is already being written and refers to
    /// itself, the recursion ends here.
    pub(super) fn replacing(
        &mut self,
        references: &[String],
        work: impl FnOnce(&mut Self) -> Node,
    ) -> Node {
        if references.iter().any(|it| self.inlined.contains(it) && self.contains_itself(it)) {
            // If the provider refuses recursion, the problem is reported for the definition. Here only the recursion
            // has to end.
            if self.rules.recursion != Recursion::Refused {
                self.refuse(
                    Rule::Recursion,
                    "the type contains itself by way of `allOf`, which the provider's form cannot express",
                    "refer to it without `allOf`",
                );
            }
            return Node::Object(Vec::new());
        }
        let length = self.inlined.len();
        self.inlined.extend_from_slice(references);
        let node = work(self);
        self.inlined.truncate(length);
        node
    }

    /// Returns whether a definition refers to itself, directly or indirectly. Referring to another recursive definition
    /// does not count.
    fn contains_itself(&self, reference: &str) -> bool {
        let Some(name) = recursion::target(reference) else { return false };
        let all = || Graph::of(self.root, true).recursive().map(str::to_owned).collect();
        self.recursive.get_or_init(all).contains(&name)
    }

    /// Writes the definitions to which references lead.
    pub(super) fn definitions(&mut self, draft: &mut Draft, definitions: &Value) {
        if self.rules.references == References::Inlined {
            return;
        }
        let Some(definitions) = definitions.as_object() else { return };
        let mut written: Vec<_> = definitions
            .iter()
            .map(|(name, schema)| (name.clone(), self.at(&["$defs", name], |it| it.schema(schema))))
            .collect();
        written.sort_by(|(one, _), (other, _)| one.cmp(other));
        if !written.is_empty() {
            draft.put("$defs", Node::Object(written));
        }
    }

    pub(super) fn judge_recursion(&mut self) {
        let graph = match self.rules.recursion {
            Recursion::Free => return,
            Recursion::BelowOptional => Graph::of(self.root, false),
            Recursion::Refused => Graph::of(self.root, true),
        };
        let (message, fix) = match self.rules.recursion {
            Recursion::BelowOptional => (
                "the type contains itself, which the provider takes only below a property that may be absent",
                "let the property be absent, by `Option` or `#[serde(default)]`",
            ),
            _ => (
                "the type contains itself, which the provider does not take",
                "show the tool in another form, or take its depth apart by ids",
            ),
        };
        for name in graph.recursive() {
            let place = if name.is_empty() { vec![] } else { vec!["$defs", name] };
            self.at(&place, |it| it.refuse(Rule::Recursion, message, fix));
        }
    }
}
