//! Reduces schemas of values with several types: `anyOf`, `oneOf`, `allOf` and lists of types.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::disjoint::all_disjoint;
use super::{Draft, Reducer};
use crate::dialect::finding::Rule;
use crate::dialect::node::{self, Node};
use crate::dialect::rules::TypeLists;
use crate::dialect::{parts, recursion, words};

impl Reducer<'_, '_> {
    /// Writes `anyOf` or `oneOf` as `anyOf`. If several variants of a `oneOf` may be valid for one value, the
    /// description states that exactly one must be.
    pub(super) fn choice(&mut self, object: &Map<String, Value>) -> Node {
        let (keyword, variants) = match (object.get("anyOf"), object.get("oneOf")) {
            (Some(Value::Array(variants)), None) => ("anyOf", variants),
            (None, Some(Value::Array(variants))) => ("oneOf", variants),
            _ => {
                let message = "the provider's form cannot express two choices at one place";
                self.refuse(Rule::Unsupported, message, "make one choice of them");
                return Node::Object(Vec::new());
            }
        };
        let is_null = |variant: &Value| *variant == json!({"type": "null"});
        let mut draft = self.draft(object);
        let outer = Outer::of(object);
        let mut fitting = Vec::new();
        for (index, variant) in variants.iter().enumerate() {
            match outer.narrow(self.root, variant) {
                NarrowedVariant::Same => fitting.push((index, Cow::Borrowed(variant))),
                NarrowedVariant::To(narrower) => fitting.push((index, Cow::Owned(narrower))),
                NarrowedVariant::Nothing => {}
                NarrowedVariant::Unseen => {
                    fitting.push((index, Cow::Borrowed(variant)));
                    if let Some(types) = object.get("type")
                        && draft.sentences.is_empty()
                    {
                        self.tell(&mut draft, "type", types);
                    }
                }
            }
        }
        if fitting.is_empty() {
            let message = "no variant of the choice is of the type beside it";
            self.refuse(Rule::Impossible, message, "give variants of that type");
        }
        let nullable = self.rules.type_lists == TypeLists::Nullable
            && fitting.iter().any(|(_, variant)| is_null(variant))
            && !fitting.iter().all(|(_, variant)| is_null(variant));
        let mut nodes = Vec::new();
        for (index, variant) in fitting {
            if !(nullable && is_null(&variant)) {
                nodes.push(self.at(&[keyword, &index.to_string()], |it| it.schema(&variant)));
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
                "default" => self.beside(&mut draft, keyword, value),
                _ => self.tell(&mut draft, keyword, value),
            }
        }
        self.any_of(draft, nodes, nullable)
    }

    /// Writes a schema with several types as a choice. Each type becomes a variant with the keywords for that type.
    pub(super) fn split(&mut self, types: &[&str], object: &Map<String, Value>) -> Node {
        let nullable = self.rules.type_lists == TypeLists::Nullable && types.contains(&"null");
        let mut draft = self.draft(object);
        let mut nodes = Vec::new();
        for name in types.iter().filter(|name| !(nullable && **name == "null")) {
            nodes.push(self.schema(&parts::narrow(object, name)));
        }
        for keyword in ["default", "examples"] {
            if let Some(value) = object.get(keyword) {
                self.beside(&mut draft, keyword, value);
            }
        }
        if let Some(definitions) = object.get("$defs") {
            self.definitions(&mut draft, definitions);
        }
        self.any_of(draft, nodes, nullable)
    }

    /// Writes a keyword next to `anyOf` that only describes the value, if the dialect allows that.
    fn beside(&mut self, draft: &mut Draft, keyword: &str, value: &Value) {
        match self.rules.lone_choice {
            true => self.tell(draft, keyword, value),
            false => self.limit(draft, keyword, value),
        }
    }

    /// Merges the parts of `allOf` and the keywords next to them into one schema.
    pub(super) fn all(&mut self, object: &Map<String, Value>, all: &Value) -> Node {
        let mut whole = object.clone();
        whole.remove("allOf");
        let parts = all.as_array().map(Vec::as_slice).unwrap_or_default();
        // Many generators write a single reference into `allOf`, with annotations next to `allOf`.
        if let [Value::Object(part)] = parts
            && part.contains_key("$ref")
            && whole.keys().all(|it| is_hint(it))
            && let Some(folded) = parts::combine(&whole, part)
        {
            return self.schema(&Value::Object(folded));
        }
        let mut followed = Vec::new();
        let folds = parts.iter().all(|part| {
            self.follow(part, &mut followed).is_some_and(|part| parts::fold(&mut whole, &part))
        });
        if folds {
            return self.replacing(&followed, |it| it.schema(&Value::Object(whole)));
        }
        let message = "the provider's form cannot express an `allOf` whose parts say the same thing differently";
        self.refuse(Rule::Unsupported, message, "describe what they come to together");
        Node::Object(Vec::new())
    }

    /// Returns a part of `allOf`. A reference is replaced by its target, merged with the keywords next to it.
    fn follow<'v>(
        &self,
        part: &'v Value,
        followed: &mut Vec<String>,
    ) -> Option<Cow<'v, Map<String, Value>>> {
        let part = part.as_object()?;
        let Some(reference) = part.get("$ref") else { return Some(Cow::Borrowed(part)) };
        let mut reference = reference.as_str()?.to_owned();
        let mut whole = part.clone();
        whole.remove("$ref");
        let before = followed.len();
        loop {
            let mut definition = self.definition(&reference)?.as_object()?.clone();
            definition.remove("$defs");
            let next = definition.remove("$ref");
            if followed[before..].contains(&reference)
                || definition.contains_key("allOf")
                || !parts::fold(&mut definition, &whole)
            {
                return None;
            }
            followed.push(reference);
            whole = definition;
            match next {
                Some(Value::String(next)) => reference = next,
                _ => return Some(Cow::Owned(whole)),
            }
        }
    }

    fn any_of(&mut self, mut draft: Draft, nodes: Vec<Node>, nullable: bool) -> Node {
        if !self.rules.lone_choice {
            draft.put("anyOf", Node::List(nodes));
            return draft.finish();
        }
        let outer = words::describe(&draft.description, &draft.sentences);
        let mut flat = Vec::new();
        for node in nodes {
            // A nested choice becomes part of the outer choice, so that the description is needed only once.
            match node {
                Node::Object(mut keywords) if keywords.iter().any(|(it, _)| it == "anyOf") => {
                    for (_, inner) in keywords.drain(..) {
                        if let Node::List(inner) = inner {
                            flat.extend(inner);
                        }
                    }
                }
                node => flat.push(node),
            }
        }
        for node in &mut flat {
            let Node::Object(keywords) = node else { continue };
            if nullable && !keywords.iter().any(|(keyword, _)| keyword == "nullable") {
                keywords.push(("nullable".into(), true.into()));
            }
            let place = keywords.iter().position(|(keyword, _)| keyword == "description");
            let inner = place.map(|place| keywords.swap_remove(place).1);
            let mut text = outer.clone();
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
        match <[Node; 1]>::try_from(flat) {
            Ok([only]) => only,
            Err(flat) => Node::schema(vec![("anyOf".into(), Node::List(flat))]),
        }
    }
}

/// Returns whether a keyword only describes a value, so that it may be next to a reference.
fn is_hint(keyword: &str) -> bool {
    matches!(
        keyword,
        "description"
            | "default"
            | "examples"
            | "title"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "$defs"
    )
}

/// The types that the keyword `type` next to a choice allows. Empty if there is no such keyword.
struct Outer<'v>(Vec<&'v str>);

/// A variant of a choice, restricted to the types next to the choice.
enum NarrowedVariant {
    Same,
    To(Value),
    Nothing,
    /// The types of the variant are behind a reference or a choice, and may include others.
    Unseen,
}

impl<'v> Outer<'v> {
    fn of(object: &'v Map<String, Value>) -> Self {
        Self(if object.contains_key("type") { parts::types(object) } else { Vec::new() })
    }

    fn narrow(&self, root: &Value, variant: &Value) -> NarrowedVariant {
        let Some(object) = variant.as_object().filter(|_| !self.0.is_empty()) else {
            return NarrowedVariant::Same;
        };
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            let definition = recursion::definition(root, reference).and_then(Value::as_object);
            let types = definition.map(parts::types).unwrap_or_default();
            let is_within = !types.is_empty() && types.iter().all(|name| self.covers(name));
            return if is_within { NarrowedVariant::Same } else { NarrowedVariant::Unseen };
        }
        let types = parts::types(object);
        let narrower: Vec<&str> = match types.as_slice() {
            [] => self.0.clone(),
            types if types.iter().all(|name| self.covers(name)) => return NarrowedVariant::Same,
            types => self.0.iter().copied().filter(|name| overlaps(types, name)).collect(),
        };
        let mut narrowed = object.clone();
        match narrower.as_slice() {
            [] => return NarrowedVariant::Nothing,
            [only] => narrowed.insert("type".into(), (*only).into()),
            several => narrowed.insert("type".into(), several.to_vec().into()),
        };
        NarrowedVariant::To(Value::Object(narrowed))
    }

    fn covers(&self, name: &str) -> bool {
        self.0.contains(&name) || (name == "integer" && self.0.contains(&"number"))
    }
}

fn overlaps(types: &[&str], name: &str) -> bool {
    types.contains(&name) || (name == "integer" && types.contains(&"number"))
}
