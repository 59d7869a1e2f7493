//! Anthropic: "Tool use", "Strict tool use" and "Structured outputs" (section *JSON Schema limitations*),
//! and the refusals "`input_schema` does not support `oneOf`, `allOf`, or `anyOf` at the top level", "Property
//! keys should match pattern", "JSON schema is invalid. It must match JSON Schema draft 2020-12", "Schemas
//! contains too many optional parameters".

use serde_json::Value;

use super::places::{self, Place};
use super::{Objections, is_json_schema, name, object_root, only_keywords, references};

const SCHEMA: &str = "/input_schema";
const CHOICES: [&str; 3] = ["oneOf", "anyOf", "allOf"];
const STRICT_KEYWORDS: &[&str] = &[
    "type",
    "title",
    "description",
    "enum",
    "const",
    "default",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "anyOf",
    "allOf",
    "$ref",
    "$defs",
    "definitions",
    "format",
    "pattern",
    "examples",
];
const FORMATS: [&str; 10] =
    ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];
/// Over all strict tools of a request, so a fortiori for one.
const OPTIONAL_PARAMETERS: usize = 24;
const UNIONS: usize = 16;

pub(super) fn plain(tool: &Value, objections: &mut Objections) {
    name(&tool["name"], "_-", 128, objections);
    let schema = &tool["input_schema"];
    object_root(schema, &CHOICES, SCHEMA, objections);
    is_json_schema(schema, SCHEMA, objections);
    for place in places::all(schema, SCHEMA) {
        let properties = place.schema.get("properties").and_then(Value::as_object);
        for key in properties.into_iter().flat_map(|it| it.keys()) {
            let fits = |it: char| it.is_ascii_alphanumeric() || "_.-".contains(it);
            objections.expect(
                (1..=64).contains(&key.chars().count()) && key.chars().all(fits),
                &place.pointer,
                format!("the property key `{key}` does not match ^[a-zA-Z0-9_.-]{{1,64}}$"),
            );
        }
    }
}

pub(super) fn strict(tool: &Value, objections: &mut Objections) {
    plain(tool, objections);
    objections.expect(tool["strict"] == true, "/strict", "the tool is not strict");
    let schema = &tool["input_schema"];
    let places = places::all(schema, SCHEMA);
    only_keywords(&places, STRICT_KEYWORDS, objections);
    for place in &places {
        constrained(place, objections);
    }
    for reference in references::cycles(schema, |_, _| false) {
        objections.at(SCHEMA, format!("`{reference}` contains itself"));
    }
    let optional: usize = places.iter().map(optional_properties).sum();
    objections.expect(
        optional <= OPTIONAL_PARAMETERS,
        SCHEMA,
        format!("{optional} optional parameters, the limit is {OPTIONAL_PARAMETERS}"),
    );
    let unions = places.iter().filter(|it| it.has("anyOf") || it.schema["type"].is_array()).count();
    objections.expect(
        unions <= UNIONS,
        SCHEMA,
        format!("{unions} parameters with union types, the limit is {UNIONS}"),
    );
}

fn constrained(place: &Place<'_>, objections: &mut Objections) {
    let schema = place.schema;
    if place.is("object") || place.has("properties") {
        objections.expect(
            schema.get("additionalProperties") == Some(&Value::Bool(false)),
            &place.pointer,
            "`additionalProperties` has to be false",
        );
    }
    if let Some(least) = schema.get("minItems") {
        objections.expect(
            least == 0 || least == 1,
            &place.pointer,
            format!("`minItems` may be 0 or 1, not {least}"),
        );
    }
    if let Some(format) = schema.get("format").and_then(Value::as_str) {
        objections.expect(
            FORMATS.contains(&format),
            &place.pointer,
            format!("the format `{format}` is not supported"),
        );
    }
    for value in schema.get("enum").and_then(Value::as_array).into_iter().flatten() {
        objections.expect(
            !value.is_object() && !value.is_array(),
            &place.pointer,
            format!("an enum holds plain values, not {value}"),
        );
    }
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        for construct in ["(?=", "(?!", "(?<", "\\b", "\\B", "\\1"] {
            objections.expect(
                !pattern.contains(construct),
                &place.pointer,
                format!("a pattern may not hold `{construct}`"),
            );
        }
    }
    let all_of = schema.get("allOf").and_then(Value::as_array);
    objections.expect(
        !all_of.is_some_and(|parts| parts.iter().any(|it| references::of(it).is_some())),
        &place.pointer,
        "`allOf` with a reference in it",
    );
}

fn optional_properties(place: &Place<'_>) -> usize {
    let properties = place.schema.get("properties").and_then(Value::as_object);
    let required = place.schema.get("required").and_then(Value::as_array);
    let is_required = |key: &String| required.is_some_and(|it| it.iter().any(|name| name == key));
    properties.map_or(0, |it| it.keys().filter(|key| !is_required(key)).count())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolwright::dialect::Dialect;

    use crate::unwritten::objections;

    fn strict(schema: Value) -> String {
        let tool = json!({"name": "find", "description": "Finds.", "input_schema": schema, "strict": true});
        objections(Dialect::AnthropicStrict, &tool).join("\n")
    }

    #[test]
    fn a_closed_object_of_supported_parts_is_taken() {
        let said = strict(json!({
            "type": "object",
            "properties": {
                "when": {"type": "string", "format": "date-time"},
                "tags": {"type": "array", "items": {"type": "string", "enum": ["a"]}, "minItems": 1},
                "who": {"anyOf": [{"$ref": "#/$defs/Who"}, {"type": "null"}]},
            },
            "required": ["when"],
            "additionalProperties": false,
            "$defs": {"Who": {"type": "object", "properties": {}, "additionalProperties": false}},
        }));
        assert_eq!(said, "");
    }

    #[test]
    fn bounds_open_objects_recursion_and_foreign_formats_are_not() {
        let said = strict(json!({
            "type": "object",
            "properties": {
                "n": {"type": "integer", "minimum": 1},
                "l": {"type": "array", "items": {"type": "string", "format": "regex"}, "minItems": 2},
                "o": {"type": "object"},
                "r": {"$ref": "#/$defs/Node"},
            },
            "additionalProperties": false,
            "$defs": {"Node": {
                "type": "object",
                "properties": {"next": {"$ref": "#/$defs/Node"}},
                "additionalProperties": false,
            }},
        }));
        for words in [
            "`minimum` is not permitted",
            "the format `regex`",
            "`minItems` may be 0 or 1",
            "/properties/o`: `additionalProperties` has to be false",
            "`#/$defs/Node` contains itself",
        ] {
            assert!(said.contains(words), "{words} is not in\n{said}");
        }
    }

    #[test]
    fn a_choice_at_the_root_and_a_property_with_a_space_are_refused_even_when_not_strict() {
        let tool = json!({"name": "find", "input_schema": {
            "type": "object", "anyOf": [{"required": ["a b"]}], "properties": {"a b": {}},
        }});
        let said = objections(Dialect::Anthropic, &tool);
        assert_eq!(said.len(), 2, "{said:?}");
    }

    #[test]
    fn more_optional_parameters_than_a_request_may_have_are_refused() {
        let properties: serde_json::Map<String, Value> =
            (0..25).map(|it| (format!("p{it}"), json!({"type": "string"}))).collect();
        let said = strict(json!({
            "type": "object", "properties": properties, "additionalProperties": false,
        }));
        assert!(said.contains("25 optional parameters"), "{said}");
    }
}
