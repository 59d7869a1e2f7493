//! One kind of thing at a time.

use serde_json::{Value, json};
use toolwright::unstable::foreign::{TypeNames, input_schema};

use super::{arrived, problems};

/// What becomes of the schema of a property.
fn property(schema: Value) -> Value {
    let whole = json!({"type": "object", "properties": {"it": schema}});
    arrived(&whole).schema["properties"]["it"].clone()
}

fn property_problem(schema: Value) -> String {
    let whole = json!({"type": "object", "properties": {"it": schema}});
    let problems = problems(&whole);
    assert_eq!(problems.len(), 1, "{problems:#?}");
    problems[0].clone()
}

fn property_note(schema: Value) -> String {
    let whole = json!({"type": "object", "properties": {"it": schema}});
    let notes = arrived(&whole).notes;
    assert_eq!(notes.len(), 1, "{notes:#?}");
    notes[0].to_string()
}

#[test]
fn a_root_that_is_no_schema_is_refused() {
    for root in [json!(null), json!(true), json!([]), json!("object")] {
        assert!(problems(&root)[0].contains("expected an object schema"), "{root}");
    }
}

#[test]
fn a_root_without_type_and_properties_is_refused() {
    assert_eq!(
        problems(&json!({"enum": [{}]})),
        [
            ": the root has neither `type` nor `properties`, expected an object schema; add \"type\": \"object\""
        ]
    );
    assert_eq!(
        problems(&json!({"type": "string"})),
        [
            "/type: the root is of type \"string\", expected \"object\"; put the value into a property"
        ]
    );
}

#[test]
fn a_root_that_can_only_mean_an_object_is_one() {
    for root in [
        json!({}),
        json!({"description": "Nothing to say."}),
        json!({"properties": {}}),
        json!({"type": ["object", "null"]}),
        json!({"anyOf": [{"required": ["a"]}, {"type": "object"}]}),
        json!({"allOf": [{"type": "object"}]}),
    ] {
        assert_eq!(arrived(&root).schema["type"], "object", "{root}");
    }
}

#[test]
fn what_names_the_document_is_left_out() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#", "$id": "https://example.com/tool",
        "$comment": "by hand", "title": "Tool", "type": "object",
        "properties": {"title": {"type": "integer", "title": "Title", "format": "int32"}},
    });
    let arrived = arrived(&schema);
    assert_eq!(
        arrived.schema,
        json!({"type": "object", "properties": {"title": {"type": "integer"}}})
    );
    assert_eq!(arrived.notes, []);
}

#[test]
fn keywords_of_older_drafts_become_those_of_2020_12() {
    assert_eq!(
        property(json!({"type": "number", "minimum": 0, "exclusiveMinimum": true})),
        json!({"type": "number", "exclusiveMinimum": 0})
    );
    assert_eq!(
        property(json!({"type": "number", "maximum": 9, "exclusiveMaximum": false})),
        json!({"type": "number", "maximum": 9})
    );
    assert_eq!(
        property(json!({"type": "array", "items": [{"type": "string"}], "additionalItems": false})),
        json!({"type": "array", "prefixItems": [{"type": "string"}], "items": false})
    );
    assert_eq!(
        property(json!({"type": "object", "dependencies": {"a": ["b"], "c": {"required": ["d"]}}})),
        json!({
            "type": "object", "dependentRequired": {"a": ["b"]},
            "dependentSchemas": {"c": {"required": ["d"]}},
        })
    );
    assert_eq!(
        property(json!({"type": "string", "nullable": true})),
        json!({"type": ["string", "null"]})
    );
    assert_eq!(
        property(json!({"type": "string", "example": "Emma"})),
        json!({"type": "string", "examples": ["Emma"]})
    );
    assert_eq!(
        property(json!({"type": "string", "minLength": 2.0})),
        json!({"type": "string", "minLength": 2})
    );
}

#[test]
fn null_and_open_objects_stay() {
    let schema = json!({"type": ["string", "null"], "default": null});
    assert_eq!(property(schema.clone()), schema);
    let schema = json!({"type": "object", "properties": {"a": {}}});
    assert_eq!(property(schema.clone()), schema);
}

#[test]
fn required_at_a_property_is_told_with_its_fix() {
    assert_eq!(
        property_problem(json!({"type": "string", "required": true})),
        "/properties/it/required: `required` is at the property, as in draft 3, expected a list \
         of names in the object that has the property; name the property there"
    );
}

#[test]
fn an_unknown_type_is_told_with_the_one_that_was_meant() {
    assert_eq!(
        property_problem(json!({"type": "dict"})),
        "/properties/it/type: type \"dict\" is no type of JSON Schema, expected \"object\""
    );
    assert_eq!(
        property_problem(json!({"type": "any"})),
        "/properties/it/type: type \"any\" is no type of JSON Schema; leave `type` out where any value is taken"
    );
    assert!(property_problem(json!({"type": "List[str]"})).contains("expected one of \"object\""));
}

#[test]
fn foreign_names_are_mapped_and_what_they_say_beyond_is_told() {
    let schema = json!({
        "type": "dict",
        "properties": {
            "pair": {"type": "tuple", "description": "Two numbers.", "items": {"type": "float"}},
            "user": {"type": "tuple", "description": "A (name, password) tuple."},
            "letter": {"type": "char"},
            "options": {"type": "HashMap"},
            "anything": {"type": "any"},
            "loud": {"type": ["STRING", "None"]},
        },
    });
    let arrived = input_schema(&schema, TypeNames::Foreign).unwrap();
    assert_eq!(
        arrived.schema,
        json!({
            "type": "object",
            "properties": {
                "pair": {
                    "type": "array", "description": "Two numbers. A tuple.",
                    "items": {"type": "number"},
                },
                "user": {"type": "array", "description": "A (name, password) tuple."},
                "letter": {"type": "string", "description": "One character."},
                "options": {"type": "object"},
                "anything": {},
                "loud": {"type": ["string", "null"]},
            },
        })
    );
    assert_eq!(arrived.notes.len(), 9);
}

#[test]
fn what_is_left_out_is_noted() {
    assert_eq!(
        property_note(json!({"type": "string", "x-order": 1})),
        "/properties/it/x-order: `x-order` is no keyword of JSON Schema, so it is left out"
    );
    assert_eq!(
        property_note(json!({"type": "string", "maxlength": 1})),
        "/properties/it/maxlength: `maxlength` is no keyword of JSON Schema, so it is left out; did you mean `maxLength`?"
    );
    assert_eq!(
        property_note(json!({"type": "boolean", "default": "false"})),
        "/properties/it/default: \"false\" is not what the schema takes, expected true or false; left out"
    );
    assert_eq!(
        property_note(json!({"type": "string", "description": 7})),
        "/properties/it/description: `description` is 7, expected a string; left out"
    );
    assert_eq!(
        property_note(json!({"type": "string", "minimum": 7})),
        "/properties/it: `minimum` is about type number, but `type` is string; it says nothing"
    );
}

#[test]
fn null_for_what_is_not_set_is_left_out() {
    let schema = json!({"type": "object", "properties": null, "required": null});
    let arrived = arrived(&schema);
    assert_eq!(arrived.schema, json!({"type": "object", "properties": {}}));
    assert_eq!(
        arrived.notes[1].to_string(),
        "/required: `required` is null, which says nothing; left out"
    );
    assert_eq!(property(json!({"const": null})), json!({"const": null}));
}

#[test]
fn an_assertion_of_the_wrong_kind_is_a_problem() {
    assert_eq!(
        property_problem(json!({"type": "string", "minLength": "2"})),
        "/properties/it/minLength: found \"2\", expected a whole number from 0 on"
    );
    assert_eq!(
        property_problem(json!({"type": "object", "properties": {"a": "string"}})),
        "/properties/it/properties/a: found \"string\", expected a schema: an object, true or false"
    );
    assert!(property_problem(json!({"pattern": "("})).contains("is no regular expression"));
    assert!(property_note(json!({"pattern": "^(?!a)"})).contains("looks around or back"));
}

#[test]
fn a_contradiction_is_a_problem_and_in_a_choice_a_note() {
    for contradiction in [
        json!({"type": "boolean", "enum": ["True", "False"]}),
        json!({"type": "integer", "minimum": 3, "maximum": 2}),
        json!({"type": "number", "exclusiveMinimum": 3, "maximum": 3}),
        json!({"type": "string", "minLength": 3, "maxLength": 2}),
        json!({"type": "string", "const": 1}),
        json!({"enum": []}),
        json!({
            "type": "object", "properties": {"a": {}}, "required": ["b"],
            "additionalProperties": false,
        }),
    ] {
        property_problem(contradiction.clone());
        property_note(json!({"anyOf": [contradiction, {"type": "null"}]}));
    }
    assert_eq!(
        property_problem(json!({"type": "array", "items": {"type": "string"}, "enum": ["a", "b"]})),
        "/properties/it: `enum` lists \"a\" and the like, but `type` is array; move `enum` into `items`"
    );
}

#[test]
fn every_problem_is_told_at_once() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"type": "dict"}, "b": {"$ref": "#/$defs/none"}, "c": {"minItems": -1},
            "d/e": {"required": true},
        },
    });
    let problems = problems(&schema);
    assert_eq!(problems.len(), 4, "{problems:#?}");
    assert!(problems[3].starts_with("/properties/d~1e/required: "));
}
