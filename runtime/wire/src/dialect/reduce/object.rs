//! Reduces the schemas of objects: orders their properties, and applies the dialect's rules for further keys and absent
//! keys.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{Draft, Reducer};
use crate::dialect::finding::{Rule, Severity};
use crate::dialect::node::Node;
use crate::dialect::rules::Objects;
use crate::dialect::{null, parts};

impl Reducer<'_, '_> {
    /// Writes the keywords of an object's schema that describe its keys.
    pub(super) fn object(&mut self, draft: &mut Draft, object: &Map<String, Value>) {
        let none = Map::new();
        let properties = object.get("properties").and_then(Value::as_object).unwrap_or(&none);
        self.judge_required(object, properties);
        let mut written = self.properties(properties);
        if self.rules.absent_is_null {
            written = self.with_nulls(object, properties, written);
        }
        let names: Vec<&str> = match &written {
            Node::Object(entries) => entries.iter().map(|(name, _)| name.as_str()).collect(),
            _ => Vec::new(),
        };
        let required = match self.rules.absent_is_null {
            true => Node::texts(names.iter().copied()),
            false => self.required_in_order(object),
        };
        let is_root = self.depth == 1;
        if self.rules.ordering && names.len() > 1 {
            draft.put("propertyOrdering", Node::texts(names.iter().copied()));
        }
        if !names.is_empty() || is_root || self.rules.objects == Objects::Closed {
            draft.put("properties", written);
        }
        if required != Node::List(Vec::new()) || self.rules.objects == Objects::Closed {
            draft.put("required", required);
        }
        self.further_keys(draft, object, !properties.is_empty());
    }

    /// Writes properties in the order of their declaration. Properties without a declared position follow in
    /// alphabetical order.
    pub(super) fn properties(&mut self, properties: &Map<String, Value>) -> Node {
        let mut names: Vec<&String> = properties.keys().collect();
        names.sort_by_key(|name| (self.place(name), name.as_str()));
        let entries = names.into_iter().map(|name| {
            let node = self.at(&["properties", name], |it| {
                it.judge_key(name);
                properties.get(name).map_or(Node::Object(Vec::new()), |schema| it.schema(schema))
            });
            (name.clone(), node)
        });
        Node::Object(entries.collect())
    }

    /// Writes the names of the required keys, in the order of the properties.
    pub(super) fn required_in_order(&self, object: &Map<String, Value>) -> Node {
        let mut names: Vec<&str> = parts::required_names(object).collect();
        names.sort_by_key(|name| (self.place(name), *name));
        Node::texts(names)
    }

    /// Returns the declared position of a property. Only the root's properties have one.
    fn place(&self, name: &str) -> usize {
        let place = self.order.get(name).filter(|_| self.depth == 1);
        place.copied().unwrap_or(usize::MAX)
    }

    /// Makes optional properties accept `null`, which then means that the key is left out.
    fn with_nulls(
        &mut self,
        object: &Map<String, Value>,
        properties: &Map<String, Value>,
        written: Node,
    ) -> Node {
        let Node::Object(entries) = written else { return written };
        let required: HashSet<&str> = parts::required_names(object).collect();
        let entries = entries.into_iter().map(|(name, node)| {
            if required.contains(name.as_str()) {
                return (name, node);
            }
            if properties.get(&name).is_some_and(|it| null::fits(self.root, it)) {
                self.at(&["properties", &name], |it| {
                    it.refuse(
                        Rule::NullOrAbsent,
                        "the key may be absent and may be `null`, the provider sends `null` for both",
                        "make the key required, or take `null` out of its values",
                    );
                });
            }
            (name, nullable(node))
        });
        Node::Object(entries.collect())
    }

    fn further_keys(&mut self, draft: &mut Draft, object: &Map<String, Value>, has_keys: bool) {
        let further = object.get("additionalProperties");
        let further = further.or_else(|| object.get("unevaluatedProperties"));
        let patterns = object.get("patternProperties").and_then(Value::as_object);
        let patterns = patterns.filter(|it| !it.is_empty());
        if self.rules.objects == Objects::Any {
            match (further, patterns) {
                (_, Some(patterns)) => self.pattern_keys(draft, patterns, further),
                (Some(schema @ Value::Object(_)), None) => {
                    let node = self.at(&["additionalProperties"], |it| it.schema(schema));
                    draft.put("additionalProperties", node);
                }
                (Some(Value::Bool(open)), None) => draft.put("additionalProperties", *open),
                _ => {}
            }
            return;
        }
        let is_open = patterns.is_some()
            || match further {
                Some(Value::Bool(open)) => *open,
                Some(_) => true,
                None => !has_keys,
            };
        if is_open {
            let message = "an object takes keys that are not known beforehand, which the provider's form cannot express";
            let fix = "name its properties, take a list of pairs, or show the tool in another form";
            self.refuse(Rule::OpenObject, message, fix);
        } else if self.rules.objects == Objects::Closed {
            draft.put("additionalProperties", false);
        }
    }

    /// Writes the schemas for keys that match a pattern. A map whose keys are not text has such a schema.
    fn pattern_keys(
        &mut self,
        draft: &mut Draft,
        patterns: &Map<String, Value>,
        further: Option<&Value>,
    ) {
        let mut entries = patterns.iter();
        match (entries.next(), entries.next(), further) {
            (Some((pattern, schema)), None, Some(Value::Bool(false))) => {
                let node = self.at(&["patternProperties", pattern], |it| it.schema(schema));
                draft.put("additionalProperties", node);
                let sentence = format!("Keys match the regular expression `{pattern}`.");
                self.note("patternProperties", &sentence);
                draft.sentences.push(sentence);
            }
            _ => self.tell(draft, "patternProperties", &Value::Object(patterns.clone())),
        }
    }

    fn judge_required(&mut self, object: &Map<String, Value>, properties: &Map<String, Value>) {
        let further = object.get("additionalProperties").or(object.get("unevaluatedProperties"));
        let is_closed = matches!(further, Some(Value::Bool(false)) | None);
        let patterned = object.contains_key("patternProperties");
        for name in parts::required_names(object).filter(|name| !properties.contains_key(*name)) {
            if is_closed && !patterned {
                let message = format!(
                    "the key `{name}` is required, and no property of that name is described"
                );
                self.at(&["required"], |it| {
                    it.refuse(Rule::Impossible, message, "describe it or do not require it");
                });
            }
        }
    }

    fn judge_key(&mut self, name: &str) {
        let fits = (1..=64).contains(&name.len())
            && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"_.-".contains(&it));
        if !self.rules.plain_keys || fits {
            return;
        }
        let found = format!(
            "the key `{name}` is not made of letters, digits, `_`, `.` and `-`, 64 at the most"
        );
        if self.depth == 1 {
            self.refuse(Rule::PropertyName, found, "rename it");
        } else {
            let message =
                format!("{found}; the provider demands that of the keys of the input alone");
            self.add(Severity::Note, Rule::PropertyName, message, String::new());
        }
    }
}

/// Changes a schema so that it also accepts `null`.
fn nullable(node: Node) -> Node {
    let null = || Node::Object(vec![("type".into(), Node::text("null"))]);
    let Node::Object(mut keywords) = node else { return node };
    let mut has_type = false;
    let mut is_choice = false;
    for (keyword, value) in &mut keywords {
        match (keyword.as_str(), &mut *value) {
            ("type", Node::Plain(name)) => {
                *value = Node::List(vec![Node::Plain(name.take()), Node::text("null")]);
                has_type = true;
            }
            ("type", Node::List(names)) => {
                names.push(Node::text("null"));
                has_type = true;
            }
            ("enum", Node::List(values)) => values.push(Node::Plain(Value::Null)),
            ("anyOf", Node::List(choices)) => {
                choices.push(null());
                is_choice = true;
            }
            _ => {}
        }
    }
    if is_choice {
        return Node::Object(keywords);
    }
    if let Some((keyword, only)) = keywords.iter_mut().find(|(keyword, _)| keyword == "const") {
        *keyword = "enum".into();
        let value = std::mem::replace(only, Node::List(Vec::new()));
        *only = Node::List(vec![value, Node::Plain(Value::Null)]);
    }
    if has_type {
        return Node::schema(keywords);
    }
    Node::schema(vec![("anyOf".into(), Node::List(vec![Node::Object(keywords), null()]))])
}
