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
    /// The parameters of the tools that have secret ones, by the name under which the model knows the tool.
    of_tools: HashMap<String, Parameters>,
    seen: BTreeSet<String>,
}

/// The parameters of a tool.
#[derive(Clone)]
struct Parameters {
    all: BTreeSet<String>,
    secret: Vec<String>,
}

impl Secrets {
    pub(super) fn of(catalog: &Catalog, listing: &Listing) -> Self {
        let secrets = catalog.definitions().filter_map(|definition| {
            let secret: Vec<String> = definition.secrets().map(str::to_owned).collect();
            let all = definition.all_parameters().map(|it| it.name.clone()).collect();
            let shown = listing.shown_name(&definition.name).into_owned();
            (!secret.is_empty()).then_some((shown, Parameters { all, secret }))
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
        let Some(name) = object.get("name").and_then(Value::as_str) else { return };
        let Some(parameters) = self.of_tools.get(name).cloned() else { return };
        for key in ["input", "args", "arguments"] {
            match object.get_mut(key) {
                Some(Value::Object(arguments)) => self.of_arguments(arguments, &parameters),
                Some(Value::String(text)) => {
                    match serde_json::from_str(text) {
                        Ok(Value::Object(mut arguments)) => {
                            self.of_arguments(&mut arguments, &parameters);
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

    /// Removes the secret arguments, and those under keys that are no parameters: the executor may repair such a key to
    /// the name of a secret that is missing.
    fn of_arguments(&mut self, arguments: &mut Map<String, Value>, parameters: &Parameters) {
        let is_one_missing = parameters.secret.iter().any(|name| !arguments.contains_key(name));
        for (key, argument) in arguments {
            let is_secret = parameters.secret.contains(key);
            if !is_secret && parameters.all.contains(key) {
                continue;
            }
            if is_secret || is_one_missing {
                self.see(argument);
            }
            *argument = SECRET.into();
        }
    }

    /// Notes the texts in a secret value.
    fn see(&mut self, secret: &Value) {
        match secret {
            Value::String(text) if text.len() >= LOOKED_FOR && text != SECRET => {
                self.seen.insert(text.clone());
            }
            Value::Array(items) => items.iter().for_each(|item| self.see(item)),
            Value::Object(object) => object.values().for_each(|member| self.see(member)),
            _ => {}
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
