//! Tests the cost of explaining a recursive union: counted in steps, over schemas and trees of any form.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Depth, Explainer, Explanation};
use crate::schema::options;
use toolwright_core::json::reference;

/// How many steps an explanation may take for each branch of the schema and each part of the value.
const MOST: usize = 12;
/// How deep the JSON may be nested.
const DEEPEST: usize = 120;

fn explain(schema: &Value, value: &Value) -> Explanation {
    Explainer::new().explain(schema, value, &|_| None, Depth::UpTo(100))
}

/// Returns the number of places that the references and unions of a schema lead to.
fn ways(schema: &Value) -> usize {
    match schema {
        Value::Object(object) => {
            let own = |(key, value): (&String, &Value)| match (key.as_str(), value) {
                ("$ref", _) => 1,
                ("anyOf" | "oneOf", Value::Array(parts)) => parts.len(),
                _ => 0,
            };
            object.iter().map(own).sum::<usize>() + object.values().map(ways).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(ways).sum(),
        _ => 0,
    }
}

fn parts(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(parts).sum(),
        Value::Object(entries) => entries.values().map(parts).sum(),
        _ => 0,
    }
}

/// Returns a schema of several definitions, each of which may contain any of them.
fn schema() -> impl Strategy<Value = Value> {
    let link = || (0..4_u8).prop_map(|it| json!({"$ref": format!("#/$defs/d{it}")}));
    let held = move || {
        prop_oneof![
            4 => link(),
            1 => link().prop_map(|it| json!({"type": "array", "items": it})),
            1 => (link(), link()).prop_map(|(one, two)| json!({"allOf": [one, two]})),
            1 => (link(), link()).prop_map(|(one, two)| json!({"anyOf": [one, two]})),
            1 => link().prop_map(|it| json!({"oneOf": [it, {"type": "null"}]})),
            1 => Just(json!({"type": "integer"})),
        ]
    };
    let object = move |number: usize, held: Vec<Value>, tagged: bool, closed: bool| {
        let mut object = json!({"type": "object", "properties": {}, "required": ["k0"]});
        for (index, held) in held.into_iter().enumerate() {
            object["properties"][format!("k{index}")] = held;
        }
        if tagged {
            object["properties"]["type"] = json!({"const": format!("t{number}")});
            object["required"] = json!(["k0", "type"]);
        }
        if closed {
            object["additionalProperties"] = false.into();
        }
        object
    };
    let definition = move || {
        let branches = prop::collection::vec(prop::collection::vec(held(), 1..4), 1..8);
        (branches, any::<[bool; 3]>()).prop_map(move |(branches, [tagged, closed, one])| {
            let branches = branches.into_iter().enumerate();
            let mut ways: Vec<Value> =
                branches.map(|(number, held)| object(number, held, tagged, closed)).collect();
            ways.push(json!({"type": "integer"}));
            json!({if one { "oneOf" } else { "anyOf" }: ways})
        })
    };
    prop::collection::vec(definition(), 4).prop_map(|definitions| {
        let named = definitions.into_iter().enumerate();
        let named: serde_json::Map<_, _> =
            named.map(|(number, it)| (format!("d{number}"), it)).collect();
        json!({"$ref": "#/$defs/d0", "$defs": named})
    })
}

/// Makes a value along a schema whose last leaf is wrong. Numbers decide its choices.
fn tree(
    root: &Value,
    schema: &Value,
    choices: &mut dyn Iterator<Item = u8>,
    depth: usize,
) -> Value {
    let choice = usize::from(choices.next().unwrap_or_default());
    if depth == 0 {
        return [json!("wrong"), json!(null), json!({}), json!([[]]), json!(7)][choice % 5].clone();
    }
    let schema = reference::follow(root, schema).expect("references lead somewhere");
    for keyword in ["anyOf", "oneOf", "allOf"] {
        if let Some(parts) = schema[keyword].as_array() {
            return tree(root, &parts[choice % parts.len()], choices, depth);
        }
    }
    match schema["type"].as_str() {
        Some("object") => {
            let mut value = json!({});
            for (key, held) in schema["properties"].as_object().expect("an object") {
                value[key] = match (key.as_str(), held.get("const")) {
                    (_, Some(tag)) => tag.clone(),
                    ("k0", _) => tree(root, held, choices, depth - 1),
                    _ => tree(root, held, choices, depth.min(2) - 1),
                };
            }
            value
        }
        Some("array") => json!([tree(root, &schema["items"], choices, depth - 1)]),
        _ => json!(1),
    }
}

proptest! {
    #[test]
    fn an_explanation_takes_steps_by_the_schema_and_the_value_and_not_by_the_depth(
        schema in schema(),
        choices in prop::collection::vec(any::<u8>(), 1..40),
        depth in 1..DEEPEST,
    ) {
        let value = tree(&schema, &schema, &mut choices.iter().copied().cycle(), depth / 2);
        let validator = options().build(&schema).expect("the schema is right");
        prop_assume!(!validator.is_valid(&value));
        let explanation = explain(&schema, &value);
        let most = MOST * ways(&schema) * parts(&value);
        prop_assert!(!explanation.problems.is_empty());
        prop_assert!(explanation.steps <= most, "{} of {most}", explanation.steps);
    }
}

/// Objects with several tags that contain each other, with a number at the end.
fn tagged_union(keyword: &str, tags: usize) -> Value {
    let node = json!({"$ref": "#/$defs/node"});
    let mut branches: Vec<Value> = (0..tags)
        .map(|tag| {
            json!({
                "type": "object", "required": ["type", "left", "right"],
                "properties": {"type": {"const": format!("t{tag}")}, "left": node, "right": node},
            })
        })
        .collect();
    branches.push(json!({
        "type": "object", "required": ["type", "value"],
        "properties": {"type": {"const": "leaf"}, "value": {"type": "integer"}},
    }));
    json!({"$ref": "#/$defs/node", "$defs": {"node": {keyword: branches}}})
}

fn nest(depth: usize) -> Value {
    let leaf = |value: Value| json!({"type": "leaf", "value": value});
    (0..depth).fold(leaf(json!("wrong")), |tree, level| {
        json!({"type": format!("t{}", level % 7), "left": leaf(json!(1)), "right": tree})
    })
}

#[test]
fn one_wrong_leaf_below_a_hundred_and_twenty_tags_is_told_at_its_place() {
    for keyword in ["oneOf", "anyOf"] {
        let schema = tagged_union(keyword, 7);
        let mut steps = Vec::new();
        for depth in [30, 60, 120] {
            let explanation = explain(&schema, &nest(depth));
            let messages: Vec<String> =
                explanation.problems.iter().map(ToString::to_string).collect();
            let place = "/right".repeat(depth);
            assert_eq!(messages, [format!("{place}/value: found \"wrong\", expected an integer")]);
            steps.push(explanation.steps);
        }
        assert!(steps[2] <= 5 * steps[0], "{steps:?}");
    }
}

#[test]
fn a_leaf_below_unions_without_tags_is_told_at_its_place() {
    let schema = json!({"$ref": "#/$defs/node", "$defs": {"node": {"anyOf": [
        {"type": "integer"},
        {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/node"}}, "additionalProperties": false},
        {"type": "object", "required": ["b"], "properties": {"b": {"$ref": "#/$defs/node"}}, "additionalProperties": false},
    ]}}});
    let value = (0..60).fold(json!("x"), |tree, level| {
        if level % 2 == 0 { json!({"a": tree}) } else { json!({"b": tree}) }
    });
    let explanation = explain(&schema, &value);
    let messages: Vec<String> = explanation.problems.iter().map(ToString::to_string).collect();
    let place = "/b/a".repeat(30);
    assert_eq!(messages, [format!("{place}: found \"x\", expected an integer or an object")]);
}

#[test]
fn a_schema_that_is_asked_twice_at_each_level_is_looked_at_once() {
    let node = json!({"$ref": "#/$defs/node"});
    let schema = json!({"$ref": "#/$defs/node", "$defs": {"node": {
        "type": ["object", "integer"], "properties": {"a": {"allOf": [node, node]}},
    }}});
    let value = (0..120).fold(json!("x"), |tree, _| json!({"a": tree}));
    let explanation = explain(&schema, &value);
    assert_eq!(explanation.problems.len(), 1);
    assert!(explanation.steps <= 2_000, "{}", explanation.steps);
}

#[test]
fn a_key_that_may_be_left_out_is_said_so_where_its_schema_is_referred_to() {
    let schema = json!({
        "type": "object", "properties": {"limit": {"$ref": "#/$defs/limit"}},
        "$defs": {"limit": {"type": "integer"}},
    });
    let message = explain(&schema, &json!({"limit": null})).problems[0].to_string();
    assert_eq!(message, "/limit: found null, expected an integer; leave the key out instead");
}

#[test]
fn keys_of_another_form_are_told_where_their_schema_is_referred_to() {
    let schema = json!({
        "type": "object", "propertyNames": {"$ref": "#/$defs/name"},
        "$defs": {"name": {"enum": ["a", "b"]}},
    });
    let message = explain(&schema, &json!({"c": 1})).problems[0].to_string();
    assert_eq!(message, "/c: found \"c\", expected one of \"a\", \"b\" as the key");
}
