//! Renames arguments in the keywords of the input's schema other than `properties`. A constraint that needs a preset
//! argument is left out.

use serde_json::{Map, Value, json};

use super::AdaptedArgument;
use toolwright_core::json::reference;

/// Keywords that constrain all keys of an object. Renaming a key could change the meaning of these keywords.
const OF_ALL_KEYS: &[&str] = &[
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "const",
    "enum",
    "default",
];

/// The names of the arguments before and after the changes.
pub(super) struct Renaming<'a> {
    /// The tool's own schema, against which references are resolved.
    own: Value,
    arguments: &'a [AdaptedArgument],
}

impl<'a> Renaming<'a> {
    pub(super) fn new(own: Value, arguments: &'a [AdaptedArgument]) -> Self {
        Self { own, arguments }
    }

    /// Returns the number of preset arguments.
    pub(super) fn presets(&self) -> u64 {
        self.arguments.iter().map(|it| u64::from(it.preset.is_some())).sum()
    }

    /// Returns the name of an argument for models; `None` if the argument is preset. Any other key remains the same.
    pub(super) fn shown(&self, own: &str) -> Option<String> {
        match self.argument(own) {
            Some(AdaptedArgument { preset: Some(_), .. }) => None,
            Some(argument) => Some(argument.name.clone()),
            None => Some(own.to_owned()),
        }
    }

    /// Renames the keys of an example of the input, and removes the preset arguments.
    pub(super) fn value(&self, example: &mut Value) {
        let Value::Object(entries) = example else { return };
        let own = std::mem::take(entries);
        entries.extend(own.into_iter().filter_map(|(key, it)| Some((self.shown(&key)?, it))));
    }

    /// Renames arguments in all keywords of the root schema except `properties`.
    pub(super) fn root(&self, root: &mut Map<String, Value>) {
        self.depend(root);
        if let Some(required) = root.get_mut("required").and_then(Value::as_array_mut) {
            *required = self.names(required);
        }
        let mut is_weaker = false;
        for keyword in ["anyOf", "oneOf"] {
            let Some(Value::Array(branches)) = root.remove(keyword) else { continue };
            match branches.iter().map(|it| self.schema(it)).collect() {
                Some(branches) => drop(root.insert(keyword.to_owned(), Value::Array(branches))),
                None => is_weaker = true,
            }
        }
        if let Some(Value::Array(all)) = root.remove("allOf") {
            let shown: Vec<Value> = all.iter().filter_map(|it| self.schema(it)).collect();
            is_weaker |= shown.len() < all.len();
            if !shown.is_empty() {
                root.insert("allOf".to_owned(), Value::Array(shown));
            }
        }
        if let Some(not) = root.remove("not") {
            match self.schema(&not) {
                Some(not) => drop(root.insert("not".to_owned(), not)),
                None => is_weaker = true,
            }
        }
        let conditions = ["if", "then", "else"].map(|it| root.remove(it).map(|own| (it, own)));
        let shown: Option<Vec<_>> = conditions
            .iter()
            .flatten()
            .map(|(keyword, own)| Some(((*keyword).to_owned(), self.schema(own)?)))
            .collect();
        match shown {
            Some(shown) => root.extend(shown),
            None => is_weaker = true,
        }
        if root.contains_key("$ref") && self.schema(&json!({"$ref": root["$ref"]})).is_none() {
            root.remove("$ref");
            is_weaker = true;
        }
        root.retain(|keyword, _| match keyword.as_str() {
            "const" | "enum" | "propertyNames" => false,
            "unevaluatedProperties" => !is_weaker,
            _ => true,
        });
    }

    /// Renames keys in the keywords that depend on a key. A constraint that depends on a preset argument becomes
    /// unconditional, because the argument is always present.
    fn depend(&self, root: &mut Map<String, Value>) {
        if let Some(Value::Object(dependents)) = root.remove("dependentRequired") {
            let mut shown = Map::new();
            for (key, names) in dependents {
                let names = names.as_array().map(|it| self.names(it)).unwrap_or_default();
                match self.shown(&key) {
                    Some(key) => drop(shown.insert(key, Value::Array(names))),
                    None => self.require(root, names),
                }
            }
            root.insert("dependentRequired".to_owned(), Value::Object(shown));
        }
        if let Some(Value::Object(dependents)) = root.remove("dependentSchemas") {
            let mut shown = Map::new();
            for (key, schema) in dependents {
                match (self.shown(&key), self.schema(&schema)) {
                    (Some(key), Some(schema)) => drop(shown.insert(key, schema)),
                    (None, Some(_)) => {
                        // [`root`](Self::root) renames the arguments in `allOf` afterwards.
                        let all = root.entry("allOf").or_insert_with(|| json!([]));
                        if let Some(all) = all.as_array_mut() {
                            all.push(schema);
                        }
                    }
                    (_, None) => {}
                }
            }
            root.insert("dependentSchemas".to_owned(), Value::Object(shown));
        }
        root.retain(|keyword, value| {
            !keyword.starts_with("dependent") || value.as_object().is_none_or(|it| !it.is_empty())
        });
    }

    /// Adds names to `required`. They are converted back to the tool's own names, because [`root`](Self::root) renames
    /// all names in `required` afterwards.
    fn require(&self, root: &mut Map<String, Value>, names: Vec<Value>) {
        let required = root.entry("required").or_insert_with(|| json!([]));
        let Some(required) = required.as_array_mut() else { return };
        for name in names {
            let own = self.arguments.iter().find(|it| Some(it.name.as_str()) == name.as_str());
            let own = own.map_or(name, |it| json!(it.own));
            if !required.contains(&own) {
                required.push(own);
            }
        }
    }

    /// Returns a schema of the whole input with the new names; `None` if the schema cannot be expressed without a
    /// preset argument.
    fn schema(&self, own: &Value) -> Option<Value> {
        self.schema_after(own, 0)
    }

    /// Does the same as [`schema`](Self::schema), for a schema at this nesting depth. References count as nesting.
    fn schema_after(&self, own: &Value, depth: usize) -> Option<Value> {
        if depth > reference::MOST_HOPS {
            return None;
        }
        let inside = |own: &Value| self.schema_after(own, depth + 1);
        let Value::Object(own) = own else { return Some(own.clone()) };
        let mut shown = own.clone();
        if OF_ALL_KEYS.iter().any(|it| own.contains_key(*it)) {
            return None;
        }
        if own.contains_key("dependentRequired") || own.contains_key("dependentSchemas") {
            return None;
        }
        if own.contains_key("$ref") {
            let target = self.own.pointer(reference::place(own["$ref"].as_str()?)?)?;
            if inside(target)? != *target {
                return None;
            }
        }
        if let Some(properties) = own.get("properties").and_then(Value::as_object) {
            let renamed = properties.iter().map(|(key, it)| Some((self.shown(key)?, it.clone())));
            let renamed: Option<Map<String, Value>> = renamed.collect();
            shown.insert("properties".to_owned(), Value::Object(renamed?));
        }
        if let Some(required) = own.get("required").and_then(Value::as_array) {
            let names = self.names(required);
            if names.len() < required.len() {
                return None;
            }
            shown.insert("required".to_owned(), Value::Array(names));
        }
        for keyword in ["not", "if", "then", "else"] {
            if let Some(own) = own.get(keyword) {
                shown.insert(keyword.to_owned(), inside(own)?);
            }
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            if let Some(own) = own.get(keyword).and_then(Value::as_array) {
                let branches: Option<Vec<Value>> = own.iter().map(inside).collect();
                shown.insert(keyword.to_owned(), Value::Array(branches?));
            }
        }
        Some(Value::Object(shown))
    }

    /// Returns the new names, without the names of preset arguments.
    fn names(&self, own: &[Value]) -> Vec<Value> {
        own.iter().filter_map(|it| Some(json!(self.shown(it.as_str()?)?))).collect()
    }

    fn argument(&self, own: &str) -> Option<&AdaptedArgument> {
        self.arguments.iter().find(|it| it.own == own)
    }
}
