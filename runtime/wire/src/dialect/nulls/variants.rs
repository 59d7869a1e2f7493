//! Expands a schema into variants that contain no choices. Each variant is a list of schemas that must all hold. The
//! schemas are borrowed from the root, so that none is merged or copied.

use std::collections::HashSet;
use std::ptr;

use serde_json::{Map, Value};

use super::entries::Entry;
use crate::dialect::recursion::definition;
use crate::dialect::{null, parts};

/// The maximum number of steps of an expansion. If a schema needs more, no keys are removed.
const STEPS: usize = 20_000;

/// The variants of a schema. A value has to fit one of them.
pub(super) struct Variants<'a>(Vec<Variant<'a>>);

/// One variant: schemas that must all hold.
pub(super) struct Variant<'a>(Vec<&'a Map<String, Value>>);

/// A variant that is being made. `open` contains the schemas that still have to be examined.
struct Draft<'a> {
    holds: Vec<&'a Map<String, Value>>,
    open: Vec<&'a Value>,
    choices: Vec<&'a [Value]>,
}

impl<'a> Variants<'a> {
    /// Expands alternatives. Each alternative is a list of schemas that must all hold.
    pub(super) fn of(
        root: &'a Value,
        alternatives: impl IntoIterator<Item = Vec<&'a Value>>,
    ) -> Self {
        let mut variants = Vec::new();
        let mut seen = HashSet::new();
        let mut drafts: Vec<Draft<'a>> = alternatives
            .into_iter()
            .filter(|open| !open.is_empty())
            .map(|open| Draft { holds: Vec::new(), open, choices: Vec::new() })
            .collect();
        while let Some(mut draft) = drafts.pop() {
            if seen.len() > STEPS {
                return Self(Vec::new());
            }
            // Equal drafts are expanded only once, so that cyclic references end.
            if !seen.insert(draft.key()) {
                continue;
            }
            if let Some(schema) = draft.open.pop() {
                if draft.take(root, schema) {
                    drafts.push(draft);
                }
            } else if let Some(choice) = draft.choices.pop() {
                drafts.extend(choice.iter().map(|schema| Draft {
                    holds: draft.holds.clone(),
                    open: vec![schema],
                    choices: draft.choices.clone(),
                }));
            } else {
                variants.push(Variant(draft.holds));
            }
        }
        Self(variants)
    }

    /// Selects the variants that a value of the given type may fit.
    pub(super) fn that_take(&self, name: &str) -> impl Iterator<Item = &Variant<'a>> {
        self.0.iter().filter(move |variant| {
            variant.0.iter().all(|part| {
                let types = parts::types(part);
                types.is_empty() || types.contains(&name)
            })
        })
    }

    /// Returns the number of items at the start of a list that have their own schemas.
    pub(super) fn places(&self) -> usize {
        let parts = self.0.iter().flat_map(|variant| &variant.0);
        let places = parts.filter_map(|part| Some(part.get("prefixItems")?.as_array()?.len()));
        places.max().unwrap_or(0)
    }
}

impl<'a> Draft<'a> {
    /// Adds a schema to the draft. Returns whether any value can still fit the draft.
    fn take(&mut self, root: &'a Value, schema: &'a Value) -> bool {
        let object = match schema {
            Value::Bool(anything) => return *anything,
            Value::Object(object) => object,
            _ => return false,
        };
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            self.open.extend(definition(root, reference));
        }
        if let Some(Value::Array(all)) = object.get("allOf") {
            self.open.extend(all);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(choice)) = object.get(keyword) {
                self.choices.push(choice);
            }
        }
        if says_something(object) && !self.holds.iter().any(|it| ptr::eq(*it, object)) {
            self.holds.push(object);
        }
        true
    }

    /// Returns a key that is equal for equal drafts.
    fn key(&self) -> [Vec<*const ()>; 3] {
        [
            self.holds.iter().map(|it| ptr::from_ref(*it).cast()).collect(),
            self.open.iter().map(|it| ptr::from_ref(*it).cast()).collect(),
            self.choices.iter().map(|it| it.as_ptr().cast()).collect(),
        ]
    }
}

/// Returns whether a schema has constraints besides references and choices.
fn says_something(object: &Map<String, Value>) -> bool {
    object.keys().any(|keyword| {
        !matches!(
            keyword.as_str(),
            "$ref" | "$defs" | "allOf" | "anyOf" | "oneOf" | "description" | "title"
        )
    })
}

impl<'a> Variant<'a> {
    /// Lists the schemas for a property in the parts of the variant.
    pub(super) fn property(&self, key: &str) -> impl Iterator<Item = &'a Value> {
        self.0.iter().filter_map(move |part| part.get("properties")?.get(key))
    }

    /// Lists the schemas for an item in the parts of the variant.
    pub(super) fn item(&self, index: usize) -> impl Iterator<Item = &'a Value> {
        self.0.iter().filter_map(move |part| {
            let place = part.get("prefixItems").and_then(|items| items.get(index));
            place.or_else(|| part.get("items"))
        })
    }

    /// Returns whether `null` at this key can only mean that the key was left out.
    pub(super) fn has_no_null(&self, root: &Value, key: &str) -> bool {
        let is_known = self.property(key).next().is_some();
        is_known && !self.requires(key) && !self.takes_null(root, key)
    }

    /// Returns whether an object with these entries fits the variant, as far as its keys and constants show.
    pub(super) fn fits(&self, root: &Value, entries: &[Entry<'_>]) -> bool {
        let keys: HashSet<&str> = entries.iter().map(|entry| &*entry.key).collect();
        let has_all =
            self.0.iter().all(|part| parts::required_names(part).all(|key| keys.contains(key)));
        let is_open = self.is_open();
        has_all
            && entries.iter().all(|entry| {
                let key = &*entry.key;
                if self.property(key).next().is_none() {
                    return is_open;
                }
                if entry.is_null() {
                    return !self.requires(key) || self.takes_null(root, key);
                }
                let constants = self.property(key).filter_map(|it| constants(root, it));
                constants.into_iter().all(|constants| entry.is_one_of(constants))
            })
    }

    /// Returns whether the variant allows further keys. In a dialect whose models send every key, a schema without
    /// `additionalProperties` allows none.
    fn is_open(&self) -> bool {
        self.0.iter().any(|part| {
            let further = ["additionalProperties", "unevaluatedProperties"];
            part.get("patternProperties")
                .and_then(Value::as_object)
                .is_some_and(|it| !it.is_empty())
                || further
                    .iter()
                    .any(|it| part.get(*it).is_some_and(|further| *further != Value::Bool(false)))
        })
    }

    fn requires(&self, key: &str) -> bool {
        self.0.iter().any(|part| parts::required_names(part).any(|it| it == key))
    }

    fn takes_null(&self, root: &Value, key: &str) -> bool {
        self.property(key).all(|schema| null::fits(root, schema))
    }
}

/// Returns the values that a schema lists, if it allows only these. Follows references.
fn constants<'v>(root: &'v Value, mut schema: &'v Value) -> Option<&'v [Value]> {
    // At most 16 references are followed. A longer chain is a cycle, or does not occur in real schemas.
    for _ in 0..16 {
        let object = schema.as_object()?;
        if let Some(constants) = parts::constants(object) {
            return Some(constants);
        }
        schema = definition(root, object.get("$ref")?.as_str()?)?;
    }
    None
}
