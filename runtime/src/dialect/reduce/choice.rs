//! Values of several kinds: `anyOf`, `oneOf`, `allOf` and lists of types.

use serde_json::{Map, Value, json};

use super::{Draft, Reducer};
use crate::dialect::finding::Rule;
use crate::dialect::node::{self, Node};
use crate::dialect::parts;
use crate::dialect::rules::TypeLists;

impl Reducer<'_, '_> {
    /// `anyOf` or `oneOf`, written as `anyOf`; that only one variant fits is told where it is not plain.
    pub(super) fn choice(&mut self, object: &Map<String, Value>) -> Node {
        let (keyword, variants) = match (object.get("anyOf"), object.get("oneOf")) {
            (Some(Value::Array(variants)), None) => ("anyOf", variants),
            (None, Some(Value::Array(variants))) => ("oneOf", variants),
            _ => {
                let message = "two choices at one place cannot be told to the provider";
                self.refuse(Rule::Unsupported, message, "make one choice of them");
                return Node::Object(Vec::new());
            }
        };
        let is_null = |variant: &Value| *variant == json!({"type": "null"});
        let nullable = self.rules.type_lists == TypeLists::Nullable && variants.iter().any(is_null);
        let mut draft = self.draft(object);
        let mut nodes = Vec::new();
        for (index, variant) in variants.iter().enumerate() {
            if !(nullable && is_null(variant)) {
                nodes.push(self.at(&[keyword, &index.to_string()], |it| it.schema(variant)));
            }
        }
        if keyword == "oneOf" && !all_disjoint(variants) {
            let sentence = "Exactly one of the variants fits.".to_owned();
            self.note("oneOf", &sentence);
            draft.sentences.push(sentence);
        }
        for (keyword, value) in node::in_order(object) {
            match keyword {
                "anyOf" | "oneOf" | "description" | "type" => {}
                "$defs" => self.definitions(&mut draft, value),
                "default" => self.limit(&mut draft, keyword, value),
                _ => self.tell(&mut draft, keyword, value),
            }
        }
        self.any_of(draft, nodes, nullable)
    }

    /// A value of several types, each a variant with the keywords that concern it.
    pub(super) fn split(&mut self, types: &[&str], object: &Map<String, Value>) -> Node {
        let nullable = self.rules.type_lists == TypeLists::Nullable && types.contains(&"null");
        let mut draft = self.draft(object);
        let mut nodes = Vec::new();
        for name in types.iter().filter(|name| !(nullable && **name == "null")) {
            nodes.push(self.schema(&parts::narrowed(object, name)));
        }
        for keyword in ["default", "examples"] {
            if let Some(value) = object.get(keyword) {
                self.limit(&mut draft, keyword, value);
            }
        }
        if let Some(definitions) = object.get("$defs") {
            self.definitions(&mut draft, definitions);
        }
        self.any_of(draft, nodes, nullable)
    }

    /// Several schemas that all hold, as the one that they come to.
    pub(super) fn all(&mut self, object: &Map<String, Value>, all: &Value) -> Node {
        let mut base = object.clone();
        base.remove("allOf");
        let parts: Option<Vec<Map<String, Value>>> =
            all.as_array().into_iter().flatten().map(|part| self.followed(part)).collect();
        let whole = parts.and_then(|parts| {
            parts.iter().try_fold(base, |whole, part| parts::merged(&whole, part))
        });
        match whole {
            Some(whole) => self.schema(&Value::Object(whole)),
            None => {
                let message = "`allOf` whose parts speak of the same in different words cannot be told to the provider";
                self.refuse(Rule::Unsupported, message, "describe what they come to together");
                Node::Object(Vec::new())
            }
        }
    }

    /// A part of `allOf`, a reference replaced by what it leads to.
    fn followed(&self, part: &Value) -> Option<Map<String, Value>> {
        let part = part.as_object()?;
        let Some(reference) = part.get("$ref") else { return Some(part.clone()) };
        let name = super::target(reference.as_str()?)?;
        let mut beside = part.clone();
        beside.remove("$ref");
        let definition = self.definition(&name)?.as_object()?;
        // One step: a definition that refers further is left to be refused.
        parts::merged(definition, &beside).filter(|whole| !whole.contains_key("allOf"))
    }

    fn any_of(&mut self, mut draft: Draft, mut nodes: Vec<Node>, nullable: bool) -> Node {
        if !self.rules.lone_choice {
            draft.put("anyOf", Node::List(nodes));
            return draft.finish();
        }
        let outer = std::mem::take(&mut draft.description);
        let sentences = std::mem::take(&mut draft.sentences);
        for node in &mut nodes {
            let Node::Object(keywords) = node else { continue };
            if nullable {
                keywords.push(("nullable".into(), true.into()));
            }
            let place = keywords.iter().position(|(keyword, _)| keyword == "description");
            let inner = place.map(|place| keywords.swap_remove(place).1);
            let mut text = crate::dialect::words::describe(&outer, &sentences);
            if let Some(inner) = inner.as_ref().and_then(Node::as_str) {
                if !text.is_empty() {
                    text.push_str("\n\n");
                }
                text.push_str(inner);
            }
            if !text.is_empty() {
                keywords.push(("description".into(), Node::text(text)));
            }
            *node = Node::schema(std::mem::take(keywords));
        }
        match <[Node; 1]>::try_from(nodes) {
            Ok([only]) => only,
            Err(nodes) => Node::schema(vec![("anyOf".into(), Node::List(nodes))]),
        }
    }
}

fn all_disjoint(variants: &[Value]) -> bool {
    variants.iter().enumerate().all(|(index, variant)| {
        variants.iter().skip(index + 1).all(|other| parts::disjoint(variant, other))
    })
}
