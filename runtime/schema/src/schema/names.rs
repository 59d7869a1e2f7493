//! Finds the names of keys and choices in a schema.

use serde_json::{Map, Value};

use toolwright_core::json::pointer::below;

pub(super) enum SchemaNames {
    Fields(Vec<String>),
    Variants(Vec<String>),
}

/// Returns the name of an externally tagged variant. One schema may also list several variants without content.
fn variant_names(choice: &Value) -> Vec<String> {
    let text = |it: &Value| it.as_str().map(str::to_owned);
    if let Some(only) = choice.get("const") {
        return text(only).into_iter().collect();
    }
    if let Some(Value::Array(choices)) = choice.get("enum") {
        return choices.iter().filter_map(text).collect();
    }
    let properties = choice.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(Map::keys).cloned().collect()
}

/// Returns the keys or choices that the schema names; `None` if it names neither.
pub(super) fn find_names(document: &Value, at: &str) -> Option<SchemaNames> {
    let schema = document.pointer(at)?;
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return find_names(document, reference.strip_prefix('#')?);
    }
    if let Some(only) = schema.get("const") {
        return Some(SchemaNames::Variants(only.as_str().map(str::to_owned).into_iter().collect()));
    }
    if let Some(Value::Array(choices)) = schema.get("enum") {
        let names = choices.iter().filter_map(Value::as_str).map(str::to_owned);
        return Some(SchemaNames::Variants(names.collect()));
    }
    if let Some(Value::Array(choices)) = schema.get("oneOf") {
        return Some(SchemaNames::Variants(choices.iter().flat_map(variant_names).collect()));
    }
    if schema.get("anyOf").is_some() {
        return find_names(document, &below(&below(at, "anyOf"), "0"));
    }
    let properties = schema.get("properties")?.as_object()?;
    Some(SchemaNames::Fields(properties.keys().cloned().collect()))
}
