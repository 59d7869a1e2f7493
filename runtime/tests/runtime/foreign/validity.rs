//! The normal form takes exactly the objects that the schema took.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use serde_json::{Value, json};
use toolwright::unstable::foreign::{TypeNames, input_schema};

const NAMES: [&str; 3] = ["a", "b", "c"];

fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(NAMES.as_slice())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-2_i32..4).prop_map(Value::from),
        Just(json!(1.5)),
        "[ab]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(name(), inner, 0..3).prop_map(|it| json!(it)),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    prop::collection::btree_map(name(), value(), 0..4).prop_map(|it| json!(it))
}

fn kind() -> impl Strategy<Value = &'static str> {
    prop::sample::select(
        ["object", "array", "string", "number", "integer", "boolean", "null"].as_slice(),
    )
}

/// One keyword, or two that belong together.
fn keyword(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let leaves = prop_oneof![
        4 => kind().prop_map(|it| json!({"type": it})),
        1 => (kind(), kind()).prop_map(|(one, other)| if one == other { json!({"type": one}) } else { json!({"type": [one, other]}) }),
        1 => (0..3).prop_map(|it| json!({"minLength": it})),
        1 => (0..3).prop_map(|it| json!({"maxItems": it})),
        1 => (0..3).prop_map(|it| json!({"minimum": it})),
        1 => (0..3).prop_map(|it| json!({"exclusiveMaximum": it})),
        1 => prop::collection::vec(value(), 1..4).prop_map(|it| json!({"enum": it})),
        1 => value().prop_map(|it| json!({"const": it})),
        1 => prop::collection::btree_set(name(), 0..3).prop_map(|it| json!({"required": it})),
        1 => value().prop_map(|it| json!({"default": it, "description": "Words.", "title": "T"})),
        1 => any::<bool>().prop_map(|it| json!({"uniqueItems": it})),
        4 => prop::sample::select([
            "#/$defs/a", "#/$defs/b", "#/definitions/c", "#/properties/a", "#",
        ].as_slice()).prop_map(|it| json!({"$ref": it})),
    ];
    let list = prop::collection::vec(inner.clone(), 1..3);
    let map = prop::collection::btree_map(name(), inner.clone(), 1..3).boxed();
    prop_oneof![
        6 => leaves,
        4 => map.clone().prop_map(|it| json!({"properties": it})),
        1 => inner.clone().prop_map(|it| json!({"additionalProperties": it})),
        1 => Just(json!({"additionalProperties": false})),
        1 => Just(json!({"unevaluatedProperties": false})),
        1 => inner.clone().prop_map(|it| json!({"patternProperties": {"^[ab]$": it}})),
        1 => map.clone().prop_map(|it| json!({"dependentSchemas": it})),
        1 => inner.clone().prop_map(|it| json!({"items": it})),
        1 => list.clone().prop_map(|it| json!({"prefixItems": it, "unevaluatedItems": false})),
        1 => inner.clone().prop_map(|it| json!({"contains": it})),
        1 => list.clone().prop_map(|it| json!({"anyOf": it})),
        1 => list.clone().prop_map(|it| json!({"oneOf": it})),
        1 => list.prop_map(|it| json!({"allOf": it})),
        1 => inner.clone().prop_map(|it| json!({"not": it})),
        1 => (inner.clone(), inner).prop_map(|(it, then)| json!({"if": it, "then": then})),
    ]
}

fn merged(keywords: Vec<Value>) -> Value {
    let keywords = keywords.into_iter().filter_map(|it| it.as_object().cloned()).flatten();
    Value::Object(keywords.collect())
}

fn schema() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![3 => kind().prop_map(|it| json!({"type": it})), 1 => any::<bool>().prop_map(Value::from)];
    leaf.prop_recursive(3, 24, 3, |inner| {
        prop::collection::vec(keyword(inner.boxed()), 1..4).prop_map(merged)
    })
    .boxed()
}

prop_compose! {
    fn document()(
        keywords in prop::collection::vec(keyword(schema()), 0..3),
        a in schema(), b in schema(), c in schema(), own in schema(),
    ) -> Value {
        let mut root = merged(keywords);
        root["type"] = json!("object");
        root["properties"]["a"] = own;
        root["$defs"] = json!({"a": a, "b": b});
        root["definitions"] = json!({"c": c});
        root
    }
}

fn compare(schema: &Value, values: &[Value]) -> Result<(), TestCaseError> {
    let Ok(arrived) = input_schema(schema, TypeNames::JsonSchema) else { return Ok(()) };
    let before = jsonschema::options().should_validate_formats(false).build(schema).unwrap();
    let after =
        jsonschema::options().should_validate_formats(false).build(&arrived.schema).unwrap();
    for value in values {
        prop_assert_eq!(
            before.is_valid(value),
            after.is_valid(value),
            "{} before: {} after: {}",
            value,
            schema,
            arrived.schema
        );
    }
    // The normal form is its own normal form.
    let again = input_schema(&arrived.schema, TypeNames::JsonSchema).unwrap();
    prop_assert_eq!(&again.schema, &arrived.schema);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn the_same_objects_are_valid_before_and_after(
        schema in document(),
        values in prop::collection::vec(object(), 40),
    ) {
        compare(&schema, &values)?;
    }

    #[test]
    fn whatever_arrives_is_answered(schema in value()) {
        let _ = input_schema(&schema, TypeNames::Foreign);
    }
}

/// The comparison above compares something: most of what is generated is accepted.
#[test]
fn many_generated_schemas_are_accepted() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let accepted = (0..100).filter(|_| {
        let schema = document().new_tree(&mut runner).unwrap().current();
        input_schema(&schema, TypeNames::JsonSchema).is_ok()
    });
    let accepted = accepted.count();
    assert!(accepted > 50, "{accepted} of 100");
}

#[test]
fn schemas_of_older_drafts_take_the_same_objects() {
    let draft = |number: &str| format!("http://json-schema.org/draft-{number}/schema#");
    let corpus = [
        json!({
            "$schema": draft("04"), "type": "object",
            "properties": {"a": {"type": "number", "minimum": 1, "exclusiveMinimum": true}},
        }),
        json!({
            "$schema": draft("07"), "type": "object",
            "properties": {"a": {"type": "array", "items": [{"type": "number"}, {"type": "string"}], "additionalItems": {"type": "null"}}},
        }),
        json!({
            "$schema": draft("07"), "type": "object",
            "dependencies": {"a": ["b"], "c": {"properties": {"b": {"type": "string"}}}},
        }),
        json!({
            "$schema": draft("07"), "type": "object",
            "properties": {"a": {"$ref": "#/definitions/x", "maximum": 1}, "b": {"$ref": "#/properties/a"}},
            "definitions": {"x": {"type": ["number", "string"]}},
        }),
        json!({
            "$schema": "https://json-schema.org/draft/2019-09/schema", "type": "object",
            "properties": {"a": {"$ref": "#/$defs/x", "maximum": 1}, "c": {"$recursiveRef": "#"}},
            "$defs": {"x": {"type": ["number", "string"]}},
        }),
    ];
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for schema in corpus {
        assert!(input_schema(&schema, TypeNames::JsonSchema).is_ok(), "{schema}");
        runner
            .run(&prop::collection::vec(object(), 40), |values| compare(&schema, &values))
            .unwrap();
    }
}
