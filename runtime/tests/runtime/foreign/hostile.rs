//! Schemas made to exhaust whoever reads them.

use serde_json::{Map, Value, json};
use toolwright::unstable::foreign::{TypeNames, input_schema};

use super::{arrived, problems};

#[test]
fn a_schema_of_a_hundred_thousand_levels_is_refused() {
    let mut schema = json!({"type": "object"});
    for _ in 0..100_000 {
        // `json!` would copy what is inside, level by level.
        schema = Value::Object(Map::from_iter([("not".to_owned(), schema)]));
    }
    let refused = input_schema(&schema, TypeNames::JsonSchema).unwrap_err();
    assert!(refused[0].message.contains("deeper than 128 levels"));
    // Dropping it would recurse as deep as it nests.
    std::mem::forget(schema);
}

#[test]
fn a_schema_as_deep_as_may_be_is_read() {
    let mut schema = json!({"type": "string"});
    for _ in 0..62 {
        schema = json!({"type": "object", "properties": {"a": schema}});
    }
    arrived(&schema);
    let mut schema = json!({"type": "object"});
    for _ in 0..126 {
        schema = json!({"not": schema});
    }
    arrived(&json!({"type": "object", "not": schema}));
}

#[test]
fn a_schema_of_too_many_values_is_refused() {
    let schema = json!({"type": "object", "enum": vec![1; 300_000]});
    assert!(problems(&schema)[0].contains("more than 200000 values"));
}

#[test]
fn references_that_double_at_each_step_stay_references() {
    let definitions: Map<String, Value> = (0..40)
        .map(|level| {
            let next = format!("#/$defs/l{}", level + 1);
            let properties = json!({"a": {"$ref": next}, "b": {"$ref": next}});
            (format!("l{level}"), json!({"type": "object", "properties": properties}))
        })
        .chain([("l40".to_owned(), json!({"type": "string"}))])
        .collect();
    let schema = json!({"$ref": "#/$defs/l0", "$defs": definitions});
    let arrived = arrived(&schema);
    assert!(arrived.schema.to_string().len() < 10_000);
    assert_eq!(arrived.schema["properties"]["a"], json!({"$ref": "#/$defs/l1"}));
}

#[test]
fn places_inside_each_other_are_not_read_without_end() {
    let mut inner =
        json!({"type": "string", "enum": (0..10_000).map(|it| it.to_string()).collect::<Vec<_>>()});
    let mut place = String::from("#");
    let mut references = Map::new();
    for level in 0..50 {
        inner = json!({"type": "object", "properties": {"a": inner}});
        place.push_str("/properties/a");
        references.insert(format!("r{level}"), json!({"$ref": place}));
    }
    references.insert("a".into(), inner);
    let schema = json!({"type": "object", "properties": references});
    assert!(problems(&schema)[0].contains("more than 200000 values"));
}

#[test]
fn references_to_very_many_places_are_refused() {
    let places: Map<String, Value> =
        (0..3_000).map(|at| (format!("p{at}"), json!({"a": {"type": "null"}}))).collect();
    let references: Map<String, Value> = (0..3_000)
        .map(|at| (format!("r{at}"), json!({"$ref": format!("#/$defs/p{at}/a")})))
        .collect();
    let schema = json!({"type": "object", "properties": references, "$defs": places});
    assert!(problems(&schema)[0].contains("more than 2000 places"));
}

/// Each definition has one property of the next one's type.
fn chain(length: usize, last: Value) -> Value {
    let mut definitions: Map<String, Value> = (0..length)
        .map(|at| {
            let next = json!({"$ref": format!("#/$defs/l{}", at + 1)});
            (format!("l{at}"), json!({"type": "object", "properties": {"a": next}}))
        })
        .collect();
    definitions.insert(format!("l{length}"), last);
    json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/l0"}}, "$defs": definitions})
}

#[test]
fn long_ways_through_references_neither_recurse_without_end_nor_overflow() {
    for last in [
        json!({"type": "null"}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/l0"}}}),
    ] {
        arrived(&chain(200, last.clone()));
        assert!(problems(&chain(1_500, last))[0].contains("levels through its references"));
    }
}

#[test]
fn a_long_chain_of_names_for_one_schema_is_followed() {
    let mut definitions: Map<String, Value> = (0..400)
        .map(|at| (format!("l{at}"), json!({"$ref": format!("#/$defs/l{}", at + 1)})))
        .collect();
    definitions.insert("l400".into(), json!({"type": "string"}));
    let schema = json!({
        "type": "object", "properties": {"a": {"$ref": "#/$defs/l0"}}, "$defs": definitions,
    });
    assert_eq!(arrived(&schema).schema["properties"]["a"], json!({"type": "string"}));
}

#[test]
fn regular_expressions_are_limited_in_size_and_number() {
    let huge =
        json!({"type": "object", "properties": {"a": {"pattern": "((a{1000}){1000}){1000}"}}});
    assert!(problems(&huge)[0].contains("no regular expression that can be checked"));
    let many: Map<String, Value> =
        (0..600).map(|at| (format!("p{at}"), json!({"pattern": "a"}))).collect();
    let many = json!({"type": "object", "properties": many});
    assert!(problems(&many)[0].contains("more than 500 regular expressions"));
}

#[test]
fn problems_and_notes_have_an_end() {
    let wrong: Map<String, Value> =
        (0..1_000).map(|at| (format!("p{at}"), json!({"type": "dict"}))).collect();
    assert_eq!(problems(&json!({"type": "object", "properties": wrong})).len(), 100);
}

/// Definitions of which each one refers to the next one `ways` times, inside of what `around` makes.
fn fan(levels: usize, ways: usize, around: impl Fn(Value) -> Value) -> Value {
    let mut definitions = Map::new();
    for level in 0..levels {
        let next = around(json!({"$ref": format!("#/$defs/a{}", level + 1)}));
        definitions.insert(format!("a{level}"), json!({"anyOf": vec![next; ways]}));
    }
    definitions.insert(format!("a{levels}"), json!({"pattern": "^b$"}));
    let x = json!({"$ref": "#/$defs/a0", "default": "c"});
    json!({"type": "object", "properties": {"x": x}, "$defs": definitions})
}

#[test]
fn references_that_fan_out_are_refused_before_a_value_is_examined_on_every_way() {
    let deeper = |part: Value| json!({"properties": {"x": part}});
    let tracked = |part: Value| json!({"allOf": [part], "unevaluatedProperties": false});
    for schema in
        [fan(40, 2, |part| part), fan(40, 2, deeper), fan(8, 10, |part| part), fan(40, 1, tracked)]
    {
        let problems = problems(&schema);
        assert!(problems[0].contains("would be examined more than 1000000 times"), "{problems:?}");
    }
    arrived(&fan(40, 1, |part| part));
    arrived(&fan(12, 2, |part| part));
}

#[test]
fn a_circle_of_references_that_fan_out_is_refused_and_one_that_does_not_is_read() {
    let circle = |ways: usize| {
        let mut schema = fan(40, ways, |part| part);
        schema["$defs"]["a40"] = json!({"properties": {"x": {"$ref": "#/$defs/a0"}}});
        schema
    };
    assert!(problems(&circle(2))[0].contains("would be examined more than 1000000 times"));
    arrived(&circle(1));
}

#[test]
fn presets_whose_check_takes_long_are_not_checked() {
    let mut schema = fan(17, 2, |part| part);
    schema["properties"]["x"]["default"] = json!(vec!["c"; 100]);
    let noted = arrived(&schema);
    assert!(
        noted.notes.iter().any(|it| it.message.contains("were not checked")),
        "{:?}",
        noted.notes
    );
}
