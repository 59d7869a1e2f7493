//! Brings schemas into the normal form: objects are closed, titles and the formats of machine types such as `int32` are
//! removed, and `null` is removed from the schema of an optional key if it only means that the key is absent.

use serde_json::{Map, Value};

use super::nulls::is_open;
use toolwright_core::schema::unwrap_docs;
use toolwright_core::schema::walk::LIST;
use toolwright_core::schema::walk::MAP;
use toolwright_core::schema::walk::ONE;
use toolwright_core::schema::walk::each_schema;

/// Keywords that describe a value without constraining it.
const NOTES: &[&str] = &["description", "default", "examples"];

/// Makes a schema that contains all definitions to which it refers.
pub(crate) fn make_root(schema: Value, definitions: Map<String, Value>) -> Value {
    let mut definitions = self::definitions(definitions);
    let mut schema = normalise(schema);
    let target = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|it| it.strip_prefix("#/$defs/"))
        .map(str::to_owned);
    if let Some(Value::Object(body)) = target.and_then(|name| definitions.get(&name).cloned())
        && let Value::Object(schema) = &mut schema
    {
        schema.remove("$ref");
        for (keyword, value) in body {
            schema.entry(keyword).or_insert(value);
        }
    }
    if !definitions.is_empty()
        && let Value::Object(schema) = &mut schema
    {
        schema.insert("$defs".into(), Value::Object(std::mem::take(&mut definitions)));
    }
    schema
}

/// Replaces every copy of a definition by a reference, so that a recursive type is written only once. The root remains
/// an object.
pub(crate) fn refer(document: &mut Value) {
    let Value::Object(root) = document else { return };
    let Some(Value::Object(definitions)) = root.remove("$defs") else { return };
    let same = |one: &Map<String, Value>, other: &Map<String, Value>| {
        let said = |object: &Map<String, Value>| {
            object.keys().filter(|keyword| !NOTES.contains(&keyword.as_str())).count()
        };
        said(one) == said(other)
            && one.iter().all(|(keyword, value)| {
                NOTES.contains(&keyword.as_str()) || other.get(keyword) == Some(value)
            })
    };
    let mut is_root = true;
    each_schema(document, &mut |object| {
        if std::mem::replace(&mut is_root, false) {
            return;
        }
        let found = definitions
            .iter()
            .filter_map(|(name, definition)| Some((name, definition.as_object()?)))
            .find(|(_, definition)| same(object, definition));
        if let Some((name, definition)) = found {
            object.retain(|keyword, value| {
                NOTES.contains(&keyword.as_str()) && definition.get(keyword) != Some(value)
            });
            object.insert("$ref".into(), format!("#/$defs/{name}").into());
        }
    });
    if let Value::Object(root) = document {
        root.insert("$defs".into(), Value::Object(definitions));
    }
}

pub(crate) fn definitions(definitions: Map<String, Value>) -> Map<String, Value> {
    definitions.into_iter().map(|(name, schema)| (name, normalise(schema))).collect()
}

/// Normalises a schema that schemars generated.
pub(crate) fn normalise(mut schema: Value) -> Value {
    walk(&mut schema, Closing::Here);
    schema
}

/// The schema that excludes unknown keys of an object: the object's own schema, or the schema around it.
#[derive(Clone, Copy, PartialEq)]
enum Closing {
    Here,
    /// The schema around it: both schemas describe the same object, and only the outer one lists all its keys.
    Above,
}

fn walk(schema: &mut Value, closing: Closing) {
    let Value::Object(object) = schema else { return };
    object.remove("title");
    object.remove("$schema");
    if object.get("format").and_then(Value::as_str).is_some_and(is_machine_format) {
        object.remove("format");
    }
    if let Some(Value::String(description)) = object.get_mut("description") {
        *description = unwrap_docs(description);
    }
    for keyword in ONE {
        if let Some(inner) = object.get_mut(*keyword) {
            walk(inner, Closing::Here);
        }
    }
    // A part of an object's schema, such as a flattened variant, lists only some of the keys.
    let is_whole =
        object.contains_key("properties") && LIST.iter().any(|it| object.contains_key(*it));
    let parts = if is_whole { Closing::Above } else { closing };
    for keyword in LIST {
        let schemas = object.get_mut(*keyword).and_then(Value::as_array_mut);
        schemas.into_iter().flatten().for_each(|schema| walk(schema, parts));
    }
    for keyword in MAP {
        let schemas = object.get_mut(*keyword).and_then(Value::as_object_mut);
        schemas
            .into_iter()
            .flat_map(Map::values_mut)
            .for_each(|schema| walk(schema, Closing::Here));
    }
    strip_optional_nulls(object);
    if is_object(object) && closing == Closing::Here {
        let keyword = if is_whole { "unevaluatedProperties" } else { "additionalProperties" };
        if !object.contains_key("unevaluatedProperties") {
            object.entry(keyword).or_insert(Value::Bool(false));
        }
    }
    if closing == Closing::Above && object.get("additionalProperties") == Some(&Value::Bool(false))
    {
        object.remove("additionalProperties");
    }
}

fn is_object(object: &Map<String, Value>) -> bool {
    let is_one = match object.get("type") {
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        name => name.is_some_and(|name| name == "object"),
    };
    is_one && object.contains_key("properties")
}

pub(crate) fn is_machine_format(format: &str) -> bool {
    format == "float" || format == "double" || format.trim_start_matches('u').starts_with("int")
}

/// Removes `null` from optional keys if it only means an absent key, so that there is one way to leave out a key.
fn strip_optional_nulls(object: &mut Map<String, Value>) {
    strip_optional(object, |property| !is_open(property));
}

/// Removes `null` from the optional keys of an output, because serde leaves an optional key out and does not write
/// `null`.
pub(crate) fn strip_all_nulls(schema: &mut Value) {
    each_schema(schema, &mut |object| strip_optional(object, |_| true));
}

fn strip_optional(object: &mut Map<String, Value>, is_meant: fn(&Value) -> bool) {
    let required: Vec<String> = object
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    let Some(Value::Object(properties)) = object.get_mut("properties") else { return };
    for (name, property) in properties {
        if !required.contains(name) && is_meant(property) {
            strip_null(property);
        }
    }
}

/// Removes `null` from the types of a property.
pub(crate) fn strip_null(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    if object.get("default") == Some(&Value::Null) {
        object.remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(choices)) = object.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(choices)) = object.get_mut(keyword) else { continue };
        choices.retain(|choice| choice.get("type").and_then(Value::as_str) != Some("null"));
        if let [Value::Object(only)] = choices.as_mut_slice() {
            let only = std::mem::take(only);
            object.remove(keyword);
            for (inner, value) in only {
                object.entry(inner).or_insert(value);
            }
        }
    }
}
