//! Removes secret arguments from recorded messages of providers.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};
use toolwright::Catalog;
use toolwright::dialect::Listing;

use super::placeholders::SECRET;

/// The minimum length of a secret value that is removed from all texts. A shorter value is removed only from arguments,
/// because it could match anything in other texts.
const LOOKED_FOR: usize = 4;

/// The secret parameters of tools, and the secret values that were found so far.
#[derive(Default)]
pub(super) struct Secrets {
    /// The secret parameters, by the name under which the model knows the tool.
    of_tools: HashMap<String, Vec<String>>,
    seen: BTreeSet<String>,
}

impl Secrets {
    pub(super) fn of(catalog: &Catalog, listing: &Listing) -> Self {
        let secrets = catalog.definitions().filter_map(|definition| {
            let names: Vec<String> = definition.secrets().map(str::to_owned).collect();
            let shown = listing.shown_name(&definition.name).into_owned();
            (!names.is_empty()).then_some((shown, names))
        });
        Self { of_tools: secrets.collect(), seen: BTreeSet::new() }
    }

    /// Returns the body without the secret arguments of its calls, and without secret values that were found before.
    pub(super) fn remove_from(&mut self, body: &str) -> String {
        if self.of_tools.is_empty() {
            return body.to_owned();
        }
        let Ok(mut value) = serde_json::from_str::<Value>(body) else {
            return self.without_seen(body);
        };
        let before = value.clone();
        self.of_calls(&mut value);
        self.of_texts(&mut value);
        if value == before { body.to_owned() } else { value.to_string() }
    }

    fn of_calls(&mut self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.of_calls(item)),
            Value::Object(object) => {
                self.of_call(object);
                object.values_mut().for_each(|member| self.of_calls(member));
            }
            _ => {}
        }
    }

    /// Removes the secrets of a call. A call is an object that has the name of a tool and its arguments, under keys
    /// that depend on the provider.
    fn of_call(&mut self, object: &mut Map<String, Value>) {
        let Some(names) = object.get("name").and_then(Value::as_str) else { return };
        let Some(names) = self.of_tools.get(names).cloned() else { return };
        for key in ["input", "args", "arguments"] {
            match object.get_mut(key) {
                Some(Value::Object(arguments)) => self.of_arguments(arguments, &names),
                Some(Value::String(text)) => {
                    match serde_json::from_str(text) {
                        Ok(Value::Object(mut arguments)) => {
                            self.of_arguments(&mut arguments, &names);
                            *text = Value::Object(arguments).to_string();
                        }
                        // The arguments cannot be parsed, so all of them are removed.
                        _ => *text = SECRET.to_owned(),
                    }
                }
                _ => {}
            }
        }
    }

    fn of_arguments(&mut self, arguments: &mut Map<String, Value>, names: &[String]) {
        for name in names {
            let Some(argument) = arguments.get_mut(name) else { continue };
            if let Value::String(text) = argument
                && text.len() >= LOOKED_FOR
                && text != SECRET
            {
                self.seen.insert(text.clone());
            }
            *argument = SECRET.into();
        }
    }

    fn of_texts(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.without_seen(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.of_texts(item)),
            Value::Object(object) => object.values_mut().for_each(|it| self.of_texts(it)),
            _ => {}
        }
    }

    fn without_seen(&self, text: &str) -> String {
        let seen = self.seen.iter();
        seen.fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), SECRET))
    }
}
