//! Queries about schemas, and rewritings of schemas that do not depend on a dialect. One rewriting turns an object with
//! variants into a choice between objects, another merges several schemas into one.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

/// Returns the types that `type` lists. Without `type`, returns the types of the constants.
pub(super) fn types(object: &Map<String, Value>) -> Vec<&str> {
    match object.get("type") {
        Some(Value::String(name)) => return vec![name],
        Some(Value::Array(names)) => return names.iter().filter_map(Value::as_str).collect(),
        _ => {}
    }
    let values = object.get("enum").and_then(Value::as_array).map(Vec::as_slice);
    let values = values.or_else(|| object.get("const").map(std::slice::from_ref));
    let mut names: Vec<&str> = Vec::new();
    for name in values.into_iter().flatten().map(type_of) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns whether a keyword constrains values of the given type. A keyword that is not specific to certain types
/// constrains values of every type.
pub(super) fn concerns(keyword: &str, name: &str) -> bool {
    let only: &[&str] = match keyword {
        "minLength" | "maxLength" | "pattern" => &["string"],
        "format" => &["string", "integer", "number"],
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            &["integer", "number"]
        }
        "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" | "contains" => {
            &["array"]
        }
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties"
        | "unevaluatedProperties" => &["object"],
        _ => return true,
    };
    only.contains(&name)
}

/// Returns the values that a schema lists; `None` if the schema has no such list.
pub(super) fn constants(object: &Map<String, Value>) -> Option<&[Value]> {
    let values = object.get("enum").and_then(Value::as_array).map(Vec::as_slice);
    values.or_else(|| object.get("const").map(std::slice::from_ref))
}

pub(super) fn required_names(object: &Map<String, Value>) -> impl Iterator<Item = &str> {
    object.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Rewrites an object with further keys that depend on a choice, as `flatten` generates it, into a choice between
/// complete objects. Returns `None` for any other schema.
pub(super) fn distribute(object: &Map<String, Value>) -> Option<Value> {
    let keyword = ["oneOf", "anyOf"].into_iter().find(|it| object.contains_key(*it))?;
    if !["properties", "required"].iter().any(|it| object.contains_key(*it)) {
        return None;
    }
    let mut base = object.clone();
    let choices = base.remove(keyword)?;
    let is_closed = match base.remove("unevaluatedProperties") {
        Some(Value::Bool(false)) => true,
        Some(further) => {
            // Each complete object lists all its keys, so the schema for further keys moves into the objects.
            base.entry("additionalProperties").or_insert(further);
            false
        }
        None => base.get("additionalProperties") == Some(&Value::Bool(false)),
    };
    let mut outer = Map::new();
    for annotation in ["description", "default", "examples"] {
        if let Some(value) = base.remove(annotation) {
            outer.insert(annotation.into(), value);
        }
    }
    let variants: Option<Vec<Value>> = choices
        .as_array()?
        .iter()
        .map(|choice| {
            let choice = choice.as_object()?;
            if shuts_out(&base, choice) || shuts_out(choice, &base) {
                return None;
            }
            let mut whole = combine(&base, choice)?;
            if is_closed {
                whole.insert("additionalProperties".into(), false.into());
            }
            whole.insert("type".into(), "object".into());
            Some(Value::Object(whole))
        })
        .collect();
    outer.insert(keyword.into(), Value::Array(variants?));
    Some(Value::Object(outer))
}

/// Returns whether `one` is closed and does not list all keys of `other`.
fn shuts_out(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let known = |name: &String| one.get("properties").is_some_and(|it| it.get(name).is_some());
    let names = other.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    one.get("additionalProperties") == Some(&Value::Bool(false)) && !names.into_iter().all(known)
}

/// Merges two schemas into one that requires both. `None` if they have different values for one keyword or property.
pub(super) fn combine(
    one: &Map<String, Value>,
    other: &Map<String, Value>,
) -> Option<Map<String, Value>> {
    let mut both = one.clone();
    merge(&mut both, other).then_some(both)
}

/// Merges `part` into `whole`, unless one of them excludes keys of the other. Returns whether they were merged.
pub(super) fn fold(whole: &mut Map<String, Value>, part: &Map<String, Value>) -> bool {
    !shuts_out(whole, part) && !shuts_out(part, whole) && merge(whole, part)
}

fn merge(whole: &mut Map<String, Value>, part: &Map<String, Value>) -> bool {
    for (keyword, value) in part {
        match (whole.get_mut(keyword), value) {
            (None, value) => {
                whole.insert(keyword.clone(), value.clone());
            }
            (Some(ours), theirs) if ours == theirs => {}
            (Some(Value::Object(ours)), Value::Object(theirs)) if keyword == "properties" => {
                for (name, schema) in theirs {
                    match ours.get(name) {
                        None => drop(ours.insert(name.clone(), schema.clone())),
                        Some(ours) if ours == schema => {}
                        Some(_) => return false,
                    }
                }
            }
            (Some(Value::Array(ours)), Value::Array(theirs)) if keyword == "required" => {
                let known: HashSet<&str> = ours.iter().filter_map(Value::as_str).collect();
                let is_new = |name: &&Value| name.as_str().is_some_and(|it| !known.contains(it));
                let new: Vec<Value> = theirs.iter().filter(is_new).cloned().collect();
                ours.extend(new);
            }
            (Some(Value::String(ours)), Value::String(theirs)) if keyword == "description" => {
                ours.push_str("\n\n");
                ours.push_str(theirs);
            }
            _ => return false,
        }
    }
    true
}

/// Reduces a schema with several types to one of them, with the keywords for that type.
pub(super) fn narrow(object: &Map<String, Value>, name: &str) -> Value {
    if name == "null" {
        return json!({"type": "null"});
    }
    let mut one: Map<String, Value> = object
        .iter()
        .filter(|(keyword, _)| concerns(keyword, name))
        .filter(|(keyword, _)| !matches!(keyword.as_str(), "description" | "default" | "examples"))
        .map(|(keyword, value)| (keyword.clone(), value.clone()))
        .collect();
    if let Some(Value::Array(values)) = one.get_mut("enum") {
        values.retain(|value| fits(value, name));
    }
    one.insert("type".into(), name.into());
    Value::Object(one)
}

/// Returns whether a value has the type with this name.
pub(super) fn fits(value: &Value, name: &str) -> bool {
    type_of(value) == name
        || (name == "number" && value.is_number())
        || (name == "integer" && value.as_f64().is_some_and(|it| it.fract() == 0.0))
}
