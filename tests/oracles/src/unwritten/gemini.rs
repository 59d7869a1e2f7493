//! Google: "Function calling", the reference of `Schema` and of `GenerationConfig.responseJsonSchema`, whose
//! list of keywords holds for `parametersJsonSchema` as well, and the refusals "items: missing field", "enum:
//! only allowed for STRING type", "enum[0]: cannot be empty", "properties: should be non-empty for OBJECT
//! type", "properties: only allowed for OBJECT type", "required[0]: property is not defined", "Invalid function
//! name. Must start with a letter or an underscore", "any_of … must be the only field set".
//!
//! What the published document says, it says of `parameters` alone; of `parametersJsonSchema` it says nothing.

use serde_json::Value;

use super::places::{self, Place};
use super::{Objections, is_json_schema, name, object_root, only_keywords, references};

const KEYWORDS: &[&str] = &[
    "$id",
    "$defs",
    "$ref",
    "$anchor",
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
    "required",
    "propertyOrdering",
];

pub(super) fn json_schema(tool: &Value, objections: &mut Objections) {
    function_name(tool, objections);
    let pointer = "/parametersJsonSchema";
    objections.expect(tool.get("parameters").is_none(), "/parameters", "both forms of parameters");
    // A function without parameters may leave them out.
    let Some(schema) = tool.get("parametersJsonSchema") else { return };
    object_root(schema, &[], pointer, objections);
    is_json_schema(schema, pointer, objections);
    let places = places::all(schema, pointer);
    only_keywords(&places, KEYWORDS, objections);
    for place in &places {
        if place.has("$ref") {
            objections.expect(
                place.keywords().all(|it| it.starts_with('$')),
                &place.pointer,
                "beside `$ref` no other fields may be set, except those that begin with `$`",
            );
        }
        for value in values(place) {
            objections.expect(
                value.is_string() || value.is_number(),
                &place.pointer,
                format!("an enum is of strings or numbers, not {value}"),
            );
        }
        property_names(place, objections);
    }
    let optional = |object: &Value, key: &str| {
        let required = object.get("required").and_then(Value::as_array);
        !required.is_some_and(|it| it.iter().any(|name| name == key))
    };
    for reference in references::cycles(schema, optional) {
        objections.at(
            pointer,
            format!("`{reference}` is cyclic by way of what is required or stands in a list"),
        );
    }
}

pub(super) fn open_api(tool: &Value, objections: &mut Objections) {
    function_name(tool, objections);
    let other = "/parametersJsonSchema";
    objections.expect(tool.get(&other[1..]).is_none(), other, "both forms of parameters");
    let Some(schema) = tool.get("parameters") else { return };
    objections.expect(schema["type"] == "OBJECT", "/parameters", "the root is not of type OBJECT");
    for place in places::all(schema, "/parameters") {
        open_api_place(&place, objections);
    }
}

fn open_api_place(place: &Place<'_>, objections: &mut Objections) {
    let schema = place.schema;
    let pointer = &place.pointer;
    if place.has("anyOf") {
        return objections.expect(
            place.keywords().all(|it| ["anyOf", "description", "title", "nullable"].contains(&it)),
            pointer,
            "when using any_of, it must be the only field set",
        );
    }
    let Some(kind) = schema.get("type").and_then(Value::as_str) else {
        return objections.at(pointer, "a schema without a type");
    };
    let belonging = [
        ("items", "ARRAY"),
        ("properties", "OBJECT"),
        ("required", "OBJECT"),
        ("propertyOrdering", "OBJECT"),
        ("enum", "STRING"),
    ];
    for (keyword, wanted) in belonging {
        objections.expect(
            !place.has(keyword) || kind == wanted,
            pointer,
            format!("{keyword}: only allowed for {wanted} type"),
        );
    }
    objections.expect(kind != "ARRAY" || place.has("items"), pointer, "items: missing field");
    let properties = schema.get("properties").and_then(Value::as_object);
    objections.expect(
        kind != "OBJECT" || properties.is_some_and(|it| !it.is_empty()),
        pointer,
        "properties: should be non-empty for OBJECT type",
    );
    for value in values(place) {
        objections.expect(
            value.as_str().is_some_and(|it| !it.is_empty()),
            pointer,
            format!("an enum is of texts that are not empty, not {value}"),
        );
    }
    property_names(place, objections);
}

fn function_name(tool: &Value, objections: &mut Objections) {
    name(&tool["name"], "_-.:", 128, objections);
    let starts = tool["name"].as_str().and_then(|it| it.chars().next());
    objections.expect(
        starts.is_some_and(|it| it.is_ascii_alphabetic() || it == '_'),
        "/name",
        "a name starts with a letter or an underscore",
    );
    let description = tool["description"].as_str().unwrap_or_default();
    objections.expect(!description.is_empty(), "/description", "the description is required");
}

/// What `required` and `propertyOrdering` name is defined.
fn property_names(place: &Place<'_>, objections: &mut Objections) {
    for keyword in ["required", "propertyOrdering"] {
        let names = place.schema.get(keyword).and_then(Value::as_array);
        for name in names.into_iter().flatten().filter_map(Value::as_str) {
            objections.expect(
                place.schema["properties"].get(name).is_some(),
                &place.pointer,
                format!("{keyword}: property is not defined: `{name}`"),
            );
        }
    }
}

fn values<'a>(place: &Place<'a>) -> impl Iterator<Item = &'a Value> {
    place.schema.get("enum").and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolwright::dialect::Dialect;

    use crate::unwritten::objections;

    fn json_schema(schema: Value) -> String {
        let tool = json!({"name": "find", "description": "Finds.", "parametersJsonSchema": schema});
        objections(Dialect::Gemini, &tool).join("\n")
    }

    fn open_api(schema: Value) -> String {
        let tool = json!({"name": "find", "description": "Finds.", "parameters": schema});
        objections(Dialect::GeminiOpenApi, &tool).join("\n")
    }

    fn has(said: &str, wanted: &[&str]) {
        for words in wanted {
            assert!(said.contains(words), "{words} is not in\n{said}");
        }
    }

    #[test]
    fn a_cycle_through_what_may_be_left_out_is_taken_and_one_through_what_is_required_is_not() {
        let node = |required: Value| {
            json!({
                "type": "object",
                "properties": {"node": {"$ref": "#/$defs/Node"}},
                "$defs": {"Node": {
                    "type": "object",
                    "properties": {"next": {"$ref": "#/$defs/Node"}},
                    "required": required,
                }},
            })
        };
        assert_eq!(json_schema(node(json!([]))), "");
        has(&json_schema(node(json!(["next"]))), &["`#/$defs/Node` is cyclic"]);
    }

    #[test]
    fn keywords_outside_the_list_and_words_beside_a_reference_are_refused() {
        let said = json_schema(json!({
            "type": "object",
            "properties": {
                "a": {"type": "string", "pattern": "^a", "enum": [true]},
                "b": {"$ref": "#/$defs/B", "description": "which"},
            },
            "required": ["c"],
            "$defs": {"B": {"const": 1}},
        }));
        has(
            &said,
            &[
                "`pattern` is not permitted",
                "`const` is not permitted",
                "an enum is of strings or numbers",
                "beside `$ref`",
                "property is not defined: `c`",
            ],
        );
    }

    #[test]
    fn the_older_form_takes_typed_parts() {
        let said = open_api(json!({
            "type": "OBJECT",
            "properties": {
                "a": {"type": "ARRAY", "items": {"type": "STRING", "enum": ["x"]}},
                "b": {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}], "description": "either"},
            },
            "required": ["a"],
        }));
        assert_eq!(said, "");
    }

    #[test]
    fn the_older_form_takes_no_empty_object_list_without_items_or_enum_of_numbers() {
        let said = open_api(json!({
            "type": "OBJECT",
            "properties": {
                "a": {"type": "ARRAY"},
                "b": {"type": "INTEGER", "enum": ["1"]},
                "c": {"type": "STRING", "enum": [""]},
                "d": {"type": "OBJECT"},
                "e": {},
                "f": {"type": "STRING", "anyOf": [{"type": "STRING"}]},
                "g": {"type": "STRING", "properties": {"x": {"type": "STRING"}}},
            },
        }));
        has(
            &said,
            &[
                "items: missing field",
                "enum: only allowed for STRING type",
                "texts that are not empty",
                "should be non-empty for OBJECT type",
                "/properties/e`: a schema without a type",
                "it must be the only field set",
                "properties: only allowed for OBJECT type",
            ],
        );
    }

    #[test]
    fn a_name_may_have_dots_and_may_not_begin_with_a_digit() {
        let tool = json!({"name": "trigger.create", "description": "Creates."});
        assert_eq!(objections(Dialect::Gemini, &tool), [] as [&str; 0]);
        let tool = json!({"name": "2nd", "description": "Creates."});
        assert_eq!(objections(Dialect::Gemini, &tool).len(), 1);
    }
}
