//! Where references lead, and what becomes of them.

use serde_json::json;

use super::{arrived, problems};

#[test]
fn a_reference_to_any_place_is_inlined() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"type": "string", "maxLength": 3},
            "b": {"$ref": "#/properties/a"},
            "c": {"$ref": "#/components/schemas/with%20space"},
            "d": {"$ref": "#word"},
        },
        "components": {"schemas": {"with space": {"type": "integer"}}},
        "$defs": {"any": {"$anchor": "word", "type": "null"}},
    });
    assert_eq!(
        arrived(&schema).schema,
        json!({
            "type": "object",
            "properties": {
                "a": {"type": "string", "maxLength": 3},
                "b": {"type": "string", "maxLength": 3},
                "c": {"type": "integer"},
                "d": {"type": "null"},
            },
        })
    );
}

#[test]
fn descriptions_beside_a_reference_and_at_its_target_are_both_kept() {
    let schema = json!({
        "type": "object",
        "properties": {"paint": {"$ref": "#/$defs/colour", "description": "Of the car.", "default": "red"}},
        "$defs": {"colour": {"enum": ["red", "blue"], "description": "A colour."}},
    });
    assert_eq!(
        arrived(&schema).schema["properties"]["paint"],
        json!({
            "enum": ["red", "blue"], "description": "Of the car.\n\nA colour.", "default": "red",
        })
    );
}

#[test]
fn assertions_beside_a_reference_stay_apart_from_its_target() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/base", "additionalProperties": false}},
        "$defs": {"base": {"type": "object", "properties": {"x": {}}}},
    });
    assert_eq!(
        arrived(&schema).schema["properties"]["a"],
        json!({
            "additionalProperties": false,
            "allOf": [{"type": "object", "properties": {"x": {}}}],
        })
    );
}

#[test]
fn recursive_types_keep_their_definitions() {
    let schema = json!({
        "$ref": "#/definitions/Node",
        "definitions": {
            "Node": {
                "type": "object",
                "properties": {
                    "name": {"$ref": "#/definitions/Name"},
                    "children": {"type": "array", "items": {"$ref": "#/definitions/Node"}},
                },
            },
            "Name": {"type": "string"},
        },
    });
    let node = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
        },
    });
    let mut whole = node.clone();
    whole["$defs"] = json!({"Node": node});
    assert_eq!(arrived(&schema).schema, whole);
}

#[test]
fn a_root_that_refers_to_itself_keeps_its_body_as_a_definition() {
    let schema = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
    let body = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/root"}}});
    let mut whole = body.clone();
    whole["$defs"] = json!({"root": body});
    assert_eq!(arrived(&schema).schema, whole);
}

#[test]
fn references_that_cannot_be_followed_are_named() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/none"},
            "b": {"$ref": "https://example.com/schema.json#/a"},
            "c": {"$ref": "other.json"},
            "d": {"$ref": 7},
            "e": {"$ref": "#nobody"},
        },
    });
    let problems = problems(&schema);
    for (problem, words) in problems.iter().zip([
        "/properties/a/$ref: the reference `#/$defs/none` leads nowhere",
        "/properties/b/$ref: the reference `https://example.com/schema.json#/a` leads to another document",
        "/properties/c/$ref: the reference `other.json` leads to another document",
        "/properties/d/$ref: found 7, expected a reference",
        "/properties/e/$ref: the reference `#nobody` names no anchor",
    ]) {
        assert!(problem.starts_with(words), "{problem}");
    }
    assert_eq!(problems.len(), 5);
}

#[test]
fn references_that_go_in_a_circle_without_a_value_are_refused() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {
            "a": {"$ref": "#/$defs/b"},
            "b": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/a"}]},
        },
    });
    let problems = problems(&schema);
    assert_eq!(problems.len(), 2);
    assert!(problems[0].starts_with("/$defs/a: the reference leads back to itself"));
}

#[test]
fn an_inner_document_is_not_mistaken_for_the_whole() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"$id": "inner", "$defs": {"x": {"type": "null"}}, "items": {"$ref": "#/$defs/x"}},
        },
        "$defs": {"x": {"type": "string"}},
    });
    assert!(problems(&schema)[0].contains("starts at the `$id` of /properties/a"));
}

#[test]
fn the_documents_own_address_is_the_document() {
    let schema = json!({
        "$id": "https://example.com/a", "type": "object",
        "properties": {"a": {"$ref": "https://example.com/a#/$defs/x"}},
        "$defs": {"x": {"type": "string"}},
    });
    assert_eq!(arrived(&schema).schema["properties"]["a"], json!({"type": "string"}));
}

#[test]
fn up_to_draft_7_nothing_beside_a_reference_counts_but_words() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
        "properties": {"a": {"$ref": "#/definitions/x", "minLength": 2, "description": "Its name."}},
        "definitions": {"x": {"type": "string"}},
    });
    let arrived = arrived(&schema);
    assert_eq!(
        arrived.schema["properties"]["a"],
        json!({"type": "string", "description": "Its name."})
    );
    assert_eq!(arrived.notes[0].pointer, "/properties/a/minLength");
}
