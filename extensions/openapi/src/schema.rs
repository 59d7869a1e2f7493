//! Copies the schemas of a document as self-contained JSON Schema: includes the definitions to which they refer, and
//! translates keywords of `OpenAPI` to those of JSON Schema. The functions are pure.
//!
//! Each definition is copied once, however many references there are, so that time and memory are bounded by the document's
//! size.

mod nullable;
mod pattern;

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value, json};
use toolwright::unstable::foreign::reference;

use crate::document::{Document, LocatedValue, below};
use crate::names;
use crate::refusal::Refusal;

pub(crate) use pattern::Patterns;

/// Keywords whose value is a schema.
const ONE: [&str; 12] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords whose value is a list of schemas.
const LIST: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value is an object with a schema under each key.
const MAP: [&str; 5] =
    ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];
/// Keywords of `OpenAPI` that do not constrain values, or that are translated.
const LEFT_OUT: [&str; 8] =
    ["$anchor", "$comment", "$id", "$schema", "discriminator", "externalDocs", "nullable", "xml"];

/// The direction in which values are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// To the server: properties that only the server sets (`readOnly`) are left out.
    Request,
    /// From the server: properties that only the server reads (`writeOnly`) are left out.
    Answer,
}

/// A copier of a document's schemas, which collects the definitions that they refer to.
pub(crate) struct Schemas<'d> {
    document: &'d Document,
    direction: Direction,
    /// The names of the definitions, by their places in the document.
    named: BTreeMap<String, String>,
    taken: names::Names,
    open: Vec<(String, LocatedValue<'d>)>,
}

impl<'d> Schemas<'d> {
    pub(crate) fn new(document: &'d Document, direction: Direction) -> Self {
        let (named, taken) = (BTreeMap::new(), names::Names::default());
        Self { document, direction, named, taken, open: Vec::new() }
    }

    /// Copies a schema. Its references point to the definitions that [`definitions`](Self::definitions) returns.
    pub(crate) fn copy(&mut self, schema: &LocatedValue<'d>) -> Result<Value, Refusal> {
        let Some(object) = schema.value.as_object() else {
            return match schema.value {
                Value::Bool(_) => Ok(schema.value.clone()),
                _ => Err(Refusal::new(&schema.place, "it is not a schema, expected an object")),
            };
        };
        let mut copied = Map::new();
        let skipped = self.find_skipped(schema)?;
        for (keyword, value) in object {
            let word = keyword.as_str();
            if word.starts_with("x-") || LEFT_OUT.contains(&word) {
                continue;
            }
            let at = LocatedValue { value, place: below(&schema.place, word) };
            let value = match value {
                Value::String(reference) if word == "$ref" => self.refer(reference, schema)?,
                Value::Object(_) if ONE.contains(&word) => self.copy(&at)?,
                Value::Array(_) if LIST.contains(&word) || word == "items" => {
                    Value::Array(at.items().map(|it| self.copy(&it)).collect::<Result<_, _>>()?)
                }
                Value::Object(_) if MAP.contains(&word) => {
                    let entries = at.entries().into_iter();
                    let left = entries
                        .filter(|(name, _)| !(word == "properties" && skipped.contains(name)));
                    let copied = left.map(|(name, it)| Ok((name.to_owned(), self.copy(&it)?)));
                    Value::Object(copied.collect::<Result<_, Refusal>>()?)
                }
                Value::Array(names) if word == "required" => {
                    let is_left = |it: &&Value| it.as_str().is_none_or(|it| !skipped.contains(it));
                    Value::Array(names.iter().filter(is_left).cloned().collect())
                }
                other => other.clone(),
            };
            copied.insert(keyword.clone(), value);
        }
        self.document.patterns.leave_out_unchecked(&mut copied);
        self.say_discriminator(schema, &mut copied);
        Ok(match schema.says("nullable") {
            true => nullable::or_null(copied),
            false => Value::Object(copied),
        })
    }

    /// Copies every definition that has been referred to, directly or indirectly.
    pub(crate) fn definitions(&mut self) -> Result<Map<String, Value>, Refusal> {
        let mut definitions = Map::new();
        while let Some((name, schema)) = self.open.pop() {
            definitions.insert(name, self.copy(&schema)?);
        }
        Ok(definitions)
    }

    /// Returns the reference to the copy of a definition.
    fn refer(&mut self, reference: &str, from: &LocatedValue<'d>) -> Result<Value, Refusal> {
        let target = self.document.target(reference, &from.place)?;
        if let Some(name) = self.named.get(&target.place) {
            return Ok(Value::String(format!("#/$defs/{name}")));
        }
        let name = self.taken.of(target.place.rsplit('/').next().unwrap_or_default());
        self.named.insert(target.place.clone(), name.clone());
        self.open.push((name.clone(), target));
        Ok(Value::String(format!("#/$defs/{name}")))
    }

    /// Returns the names of the properties that are not sent in this direction.
    fn find_skipped(&self, schema: &LocatedValue<'d>) -> Result<HashSet<&'d str>, Refusal> {
        let word = match self.direction {
            Direction::Request => "readOnly",
            Direction::Answer => "writeOnly",
        };
        let mut skipped = HashSet::new();
        let Some(properties) = schema.get("properties") else { return Ok(skipped) };
        for (name, property) in properties.entries() {
            if property.says(word) || self.document.follow(property)?.says(word) {
                skipped.insert(name);
            }
        }
        Ok(skipped)
    }

    /// Describes a discriminator in words. A value may match several of the alternatives, which `oneOf` would refuse,
    /// so `anyOf` replaces `oneOf`.
    fn say_discriminator(&self, schema: &LocatedValue<'d>, copied: &mut Map<String, Value>) {
        let Some(discriminator) = schema.get("discriminator") else { return };
        let Some(property) = discriminator.text("propertyName") else { return };
        if let Some(alternatives) = copied.remove("oneOf") {
            copied.insert("anyOf".to_owned(), alternatives);
        }
        let mapping = discriminator.get("mapping").map(|it| it.entries()).unwrap_or_default();
        let mut values: Vec<&str> = mapping.into_iter().map(|(value, _)| value).collect();
        if values.is_empty() {
            let alternatives = ["oneOf", "anyOf"].iter().find_map(|it| schema.get(it));
            let alternatives = alternatives.as_ref().map(|it| it.items().collect::<Vec<_>>());
            let names = alternatives.iter().flatten().filter_map(|it| reference::of(it.value));
            values.extend(names.filter_map(|it| it.rsplit('/').next()));
        }
        if values.is_empty() {
            return;
        }
        say(copied, &format!("`{property}` says which it is: {}.", values.join(", ")));
    }
}

/// Appends a sentence to the description of a schema.
fn say(schema: &mut Map<String, Value>, words: &str) {
    let before = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let words = format!("{before} {words}").trim().to_owned();
    schema.insert("description".to_owned(), json!(words));
}
