//! `OpenAI`: "Function calling", "Structured model outputs" (section *Supported schemas*), and the refusals
//! "array schema missing items", "object schema missing properties", "'…' is not permitted", "schema must
//! have a 'type' key", "`$ref` cannot have keywords", "'additionalProperties' is required to be supplied and
//! to be false", "'required' is required to be supplied and to be an array including every key in properties".
//!
//! `default`, `minLength` and `maxLength` are counted among what strict schemas may not have: the guide does
//! not list them, and the vendor's own client for JavaScript warns that they "can be rejected"; of lengths some
//! report that they are taken. `prefixItems` is no `items` to it.

use serde_json::Value;

use super::places::{self, Place};
use super::{Objections, is_json_schema, name, object_root, only_keys, only_keywords};

const CHOICES: [&str; 5] = ["oneOf", "anyOf", "allOf", "enum", "not"];
const STRICT_KEYWORDS: &[&str] = &[
    "type",
    "title",
    "description",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "pattern",
    "format",
    "anyOf",
    "$ref",
    "$defs",
    "definitions",
];
const FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
const DEPTH: usize = 10;
const PROPERTIES: usize = 5_000;
const ENUM_VALUES: usize = 1_000;
const CHARACTERS: usize = 120_000;
/// An enum of more texts than this may have only so many characters.
const LARGE_ENUM: (usize, usize) = (250, 15_000);

pub(super) fn chat(tool: &Value, is_strict: bool, objections: &mut Objections) {
    only_keys(tool, &["type", "function"], "", objections);
    let known = ["name", "description", "parameters", "strict"];
    only_keys(&tool["function"], &known, "/function", objections);
    function(&tool["function"], "/function", is_strict, objections);
}

pub(super) fn responses(tool: &Value, is_strict: bool, objections: &mut Objections) {
    let known = ["type", "name", "description", "parameters", "strict", "defer_loading"];
    only_keys(tool, &known, "", objections);
    // What is not said is `true` here, and `false` in the other API.
    objections.expect(tool["strict"].is_boolean(), "/strict", "`strict` is not said");
    function(tool, "", is_strict, objections);
}

fn function(function: &Value, above: &str, is_strict: bool, objections: &mut Objections) {
    name(&function["name"], "_-", 64, objections);
    let says_strict = function.get("strict").and_then(Value::as_bool).unwrap_or(false);
    objections.expect(
        says_strict == is_strict,
        &format!("{above}/strict"),
        format!("`strict` is {says_strict}"),
    );
    // A function without parameters may leave them out.
    let Some(schema) = function.get("parameters") else { return };
    let pointer = &format!("{above}/parameters");
    object_root(schema, &CHOICES, pointer, objections);
    objections.expect(
        schema["properties"].is_object(),
        pointer,
        "object schema missing properties",
    );
    is_json_schema(schema, pointer, objections);
    let places = places::all(schema, pointer);
    for place in &places {
        objections.expect(
            !place.is("array") || place.has("items"),
            &place.pointer,
            "array schema missing items",
        );
    }
    if is_strict {
        only_keywords(&places, STRICT_KEYWORDS, objections);
        for place in &places {
            strict_place(place, objections);
        }
        size(&places, pointer, objections);
    }
}

fn strict_place(place: &Place<'_>, objections: &mut Objections) {
    let schema = place.schema;
    let pointer = &place.pointer;
    if schema.is_boolean() {
        let closed = pointer.ends_with("/additionalProperties") && schema == &Value::Bool(false);
        return objections.expect(closed, pointer, "a schema that is true or false");
    }
    let kinds = ["type", "anyOf", "$ref", "enum", "const"];
    objections.expect(
        kinds.iter().any(|it| place.has(it)),
        pointer,
        "schema must have a 'type' key",
    );
    if place.has("$ref") {
        objections.expect(
            place.keywords().count() == 1,
            pointer,
            "$ref cannot have keywords beside it",
        );
    }
    if place.is("object") {
        objections.expect(
            schema.get("additionalProperties") == Some(&Value::Bool(false)),
            pointer,
            "'additionalProperties' is required to be supplied and to be false",
        );
        let empty = serde_json::Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        objections.expect(place.has("properties"), pointer, "object schema missing properties");
        let required = schema.get("required").and_then(Value::as_array);
        let required: Vec<&str> =
            required.into_iter().flatten().filter_map(Value::as_str).collect();
        for key in properties.keys() {
            objections.expect(
                required.contains(&key.as_str()),
                pointer,
                format!("'required' has to include every key in properties, `{key}` is missing"),
            );
        }
        for key in &required {
            objections.expect(
                properties.contains_key(*key),
                pointer,
                format!("'required' names `{key}`, which is no property"),
            );
        }
    }
    if let Some(format) = schema.get("format").and_then(Value::as_str) {
        objections.expect(
            FORMATS.contains(&format),
            pointer,
            format!("'{format}' is not a valid format"),
        );
    }
}

fn size(places: &[Place<'_>], pointer: &str, objections: &mut Objections) {
    let keys = |place: &Place<'_>, keyword: &str| -> Vec<String> {
        let map = place.schema.get(keyword).and_then(Value::as_object);
        map.into_iter().flat_map(|it| it.keys().cloned()).collect()
    };
    let mut properties = 0;
    let mut values = 0;
    let mut characters = 0;
    for place in places {
        objections.expect(
            place.depth <= DEPTH,
            &place.pointer,
            format!("{} levels of nesting exceeds limit of {DEPTH}", place.depth),
        );
        let names = keys(place, "properties");
        properties += names.len();
        characters += names.iter().chain(&keys(place, "$defs")).map(|it| length(it)).sum::<usize>();
        let texts =
            |value: &Value| value.as_str().map_or_else(|| length(&value.to_string()), length);
        characters += place.schema.get("const").map_or(0, texts);
        let list =
            place.schema.get("enum").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let long: usize = list.iter().map(texts).sum();
        values += list.len();
        characters += long;
        objections.expect(
            list.len() <= LARGE_ENUM.0 || long <= LARGE_ENUM.1,
            &place.pointer,
            format!("an enum of {} values has {long} characters", list.len()),
        );
    }
    objections.expect(properties <= PROPERTIES, pointer, format!("{properties} properties"));
    objections.expect(values <= ENUM_VALUES, pointer, format!("{values} enum values"));
    objections.expect(characters <= CHARACTERS, pointer, format!("{characters} characters"));
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolwright::dialect::Dialect;

    use crate::unwritten::objections;

    fn chat(schema: Value) -> String {
        let tool = json!({"type": "function", "function": {"name": "find", "parameters": schema}});
        objections(Dialect::OpenAiChat, &tool).join("\n")
    }

    fn strict(schema: Value) -> String {
        let tool =
            json!({"type": "function", "name": "find", "parameters": schema, "strict": true});
        objections(Dialect::OpenAiResponsesStrict, &tool).join("\n")
    }

    fn has(said: &str, wanted: &[&str]) {
        for words in wanted {
            assert!(said.contains(words), "{words} is not in\n{said}");
        }
    }

    #[test]
    fn a_plain_function_needs_an_object_with_properties_and_lists_with_items() {
        assert_eq!(chat(json!({"type": "object", "properties": {}})), "");
        has(&chat(json!({"type": "object"})), &["object schema missing properties"]);
        let said = chat(json!({
            "type": "object", "properties": {"a": {"type": "array"}}, "oneOf": [{}],
        }));
        has(&said, &["array schema missing items", "`oneOf` at the top level"]);
    }

    #[test]
    fn a_strict_function_may_be_recursive_and_nullable() {
        let said = strict(json!({
            "type": "object",
            "properties": {
                "node": {"$ref": "#/$defs/Node"},
                "count": {"type": ["integer", "null"], "minimum": 1},
            },
            "required": ["node", "count"],
            "additionalProperties": false,
            "$defs": {"Node": {
                "type": "object",
                "properties": {"next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}},
                "required": ["next"],
                "additionalProperties": false,
            }},
        }));
        assert_eq!(said, "");
    }

    #[test]
    fn a_strict_function_may_not_be_open_optional_untyped_or_use_other_keywords() {
        let said = strict(json!({
            "type": "object",
            "properties": {
                "a": {},
                "b": {"oneOf": [{"type": "string", "minLength": 1}]},
                "c": {"$ref": "#/$defs/C", "description": "which"},
                "d": {"type": "object", "additionalProperties": {"type": "string"}},
            },
            "required": ["a", "b", "c"],
            "$defs": {"C": {"type": "string", "format": "uri"}},
        }));
        has(
            &said,
            &[
                "/properties/a`: schema must have a 'type' key",
                "`oneOf` is not permitted",
                "`minLength` is not permitted",
                "$ref cannot have keywords beside it",
                "/parameters`: 'additionalProperties' is required",
                "`d` is missing",
                "'uri' is not a valid format",
            ],
        );
    }

    #[test]
    fn a_strict_schema_has_limits_to_its_depth_and_its_enums() {
        let mut schema = json!({"type": "string"});
        for _ in 0..10 {
            schema = json!({
                "type": "object", "properties": {"p": schema}, "required": ["p"],
                "additionalProperties": false,
            });
        }
        assert_eq!(strict(schema.clone()), "");
        schema = json!({
            "type": "object", "properties": {"p": schema}, "required": ["p"],
            "additionalProperties": false,
        });
        has(&strict(schema), &["11 levels of nesting exceeds limit of 10"]);
        let values: Vec<String> = (0..1_001).map(|it| it.to_string()).collect();
        let said = strict(json!({
            "type": "object", "properties": {"p": {"type": "string", "enum": values}},
            "required": ["p"], "additionalProperties": false,
        }));
        has(&said, &["1001 enum values"]);
    }

    #[test]
    fn strict_has_to_be_said_where_its_default_is_true() {
        let schema = json!({"type": "object", "properties": {}});
        let tool = json!({"type": "function", "name": "find", "parameters": schema});
        has(&objections(Dialect::OpenAiResponses, &tool).join("\n"), &["`strict` is not said"]);
    }
}
