//! Reduces the schemas of lists and tuples.

use serde_json::{Map, Value};

use super::{Draft, Reducer};
use crate::dialect::finding::Rule;
use crate::dialect::node::Node;

impl Reducer<'_, '_> {
    /// Writes the keywords of a list's schema that describe its items.
    pub(super) fn list(&mut self, draft: &mut Draft, object: &Map<String, Value>) {
        let tuple = object.get("prefixItems").and_then(Value::as_array);
        let rest = object.get("items").filter(|items| **items != Value::Bool(true));
        match (tuple, rest) {
            (Some(tuple), rest) if self.rules.tuples => {
                let nodes = self.each("prefixItems", tuple);
                draft.put("prefixItems", Node::List(nodes));
                match rest {
                    // `maxItems` already excludes further items, so nothing has to be written.
                    Some(Value::Bool(_)) if count(object, "maxItems") == Some(tuple.len()) => {}
                    Some(Value::Bool(_)) => draft.put("maxItems", Node::Plain(tuple.len().into())),
                    Some(items) => {
                        let node = self.at(&["items"], |it| it.schema(items));
                        draft.put("items", node);
                    }
                    None => {}
                }
            }
            (Some(tuple), rest) => self.tuple(draft, object, tuple, rest),
            (None, Some(items @ Value::Object(_))) => {
                let node = self.at(&["items"], |it| it.schema(items));
                draft.put("items", node);
            }
            (None, _) if !self.rules.open_lists => self.refuse_open_list(),
            (None, _) => {}
        }
    }

    pub(super) fn refuse_open_list(&mut self) {
        let message = "a list does not say what it holds, which the provider wants to know";
        self.refuse(Rule::ListItems, message, "describe its `items`");
    }

    /// Writes a tuple as a list whose items may have any of the tuple's types. The description states the order.
    fn tuple(
        &mut self,
        draft: &mut Draft,
        object: &Map<String, Value>,
        tuple: &[Value],
        rest: Option<&Value>,
    ) {
        let mut kinds: Vec<Node> = Vec::new();
        let mut places = Vec::new();
        for (index, node) in self.each("prefixItems", tuple).into_iter().enumerate() {
            let place = &tuple[index];
            let what = place.get("description").and_then(Value::as_str).map(str::to_owned);
            let what = what.unwrap_or_else(|| toolwright_core::schema::in_words(place, place));
            places.push(format!("{}. {}", index + 1, what.trim_end_matches('.')));
            if !kinds.contains(&node) {
                kinds.push(node);
            }
        }
        if let Some(rest @ Value::Object(_)) = rest {
            let node = self.at(&["items"], |it| it.schema(rest));
            if !kinds.contains(&node) {
                kinds.push(node);
            }
        }
        let sentence = format!("In this order: {}.", places.join("; "));
        self.note("prefixItems", &sentence);
        draft.sentences.push(sentence);
        match <[Node; 1]>::try_from(kinds) {
            Ok([only]) => draft.put("items", only),
            Err(kinds) if kinds.is_empty() => self.refuse_open_list(),
            Err(kinds) => {
                draft.put("items", Node::schema(vec![("anyOf".into(), Node::List(kinds))]));
            }
        }
        if rest == Some(&Value::Bool(false)) && !object.contains_key("maxItems") {
            self.limit(draft, "maxItems", &tuple.len().into());
        }
    }
}

fn count(object: &Map<String, Value>, keyword: &str) -> Option<usize> {
    object.get(keyword).and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok())
}
