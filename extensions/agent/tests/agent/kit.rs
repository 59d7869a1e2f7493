//! The test kit itself: what it generates, and that its assertions fail.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::{Value, json};
use toolwright::{Executor, Registry, data, tool};
use toolwright_agent::testing::{CountingModel, ExploringModel, generated};
use toolwright_agent::{Agent, Limit, Message, RunEnd, ScriptedModel, check};

use crate::support::{Log, builder};

const SEEDS: u64 = 300;

fn schemas() -> Vec<Value> {
    vec![
        json!({ "type": "integer", "minimum": -3, "exclusiveMaximum": 4, "multipleOf": 2 }),
        json!({ "type": "integer", "exclusiveMinimum": 6, "maximum": 7 }),
        json!({ "type": "integer", "minimum": i64::MIN, "maximum": i64::MAX }),
        json!({ "type": "integer", "minimum": u64::MAX - 1, "maximum": u64::MAX }),
        json!({ "type": "number", "minimum": f64::MIN, "maximum": f64::MAX }),
        json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 }),
        json!({ "type": "string", "minLength": 2, "maxLength": 3 }),
        json!({ "type": "string", "pattern": "^a+$", "examples": ["aa"] }),
        json!({ "type": ["string", "null"] }),
        json!({ "enum": ["a", 7, null] }),
        json!({ "type": "array", "items": { "type": "boolean" }, "minItems": 1, "maxItems": 2, "uniqueItems": true }),
        json!({ "type": "array", "prefixItems": [{ "type": "integer" }, { "type": "string" }], "items": false, "minItems": 2, "maxItems": 2 }),
        json!({ "type": "object", "additionalProperties": { "type": "integer" }, "minProperties": 2 }),
        json!({ "type": "object", "properties": { "a": { "const": 1 }, "b": { "type": "null" } }, "required": ["a"], "additionalProperties": false }),
        json!({ "anyOf": [{ "type": "integer" }, { "type": "object", "properties": { "x": { "type": "boolean" } }, "required": ["x"] }] }),
        json!({ "allOf": [{ "$ref": "#/$defs/a" }, { "required": ["b"], "properties": { "b": { "type": "integer" } } }],
            "$defs": { "a": { "type": "object", "required": ["a"], "properties": { "a": { "type": "string" } } } } }),
        json!({ "$ref": "#/$defs/tree", "$defs": { "tree": { "type": "object", "required": ["leaves"],
            "properties": { "leaves": { "type": "array", "items": { "$ref": "#/$defs/tree" } }, "next": { "anyOf": [{ "type": "null" }, { "$ref": "#/$defs/tree" }] } } } } }),
    ]
}

#[test]
fn what_is_generated_is_taken_by_its_schema_and_follows_from_its_seed() {
    for schema in schemas() {
        let validator = jsonschema::validator_for(&schema).unwrap();
        let mut all = std::collections::BTreeSet::new();
        for seed in 0..SEEDS {
            let value = generated(&schema, seed);
            assert!(validator.is_valid(&value), "{schema} does not take {value} of seed {seed}");
            assert_eq!(value, generated(&schema, seed));
            all.insert(value.to_string());
        }
        let has_one = schema.get("pattern").is_some() || schema["maximum"] == 7;
        assert_eq!(all.len() > 1, !has_one, "{schema}: {all:?}");
    }
}

/// A place.
#[data]
struct Place {
    /// Where it is.
    at: [f64; 2],
    /// What it is called.
    name: Option<String>,
}

/// Counts places.
#[tool(effect = read)]
async fn count_places(
    /// Which.
    places: Vec<Place>,
    /// How many at most.
    #[arg(default = 3)]
    most: u8,
) -> usize {
    let named = places.iter().filter(|it| it.name.is_some() && it.at[0] > it.at[1]);
    named.count().min(most.into())
}

#[tokio::test]
async fn every_tool_is_called_with_input_that_it_takes_until_a_limit_stops_the_run() {
    let run = async |seed| {
        let tools = [COUNT_PLACES, crate::support::ADD, crate::support::LOOK_UP];
        let executor = Executor::builder(Registry::of(tools).unwrap())
            .service(Log::default())
            .unrestricted()
            .build()
            .unwrap();
        let model = ExploringModel::new(seed);
        let agent = Agent::on(executor, model).max_turns(60).build().unwrap();
        let mut run = agent.new_run("r").start().unwrap();
        let ended = run.send("go").await.unwrap();
        assert!(matches!(ended, RunEnd::Limit(Limit::Turns { turns: 60 })), "{ended}");
        assert_eq!(check(run.history()), Ok(&[][..]));
        run.history().to_vec()
    };
    let history = run(3).await;
    let mut called = std::collections::BTreeMap::new();
    for message in &history {
        let Message::ToolResults(answered) = message else { continue };
        for (call, answer) in answered.iter() {
            assert!(answer.error().is_none(), "{}: {}", call.name, answer.text());
            *called.entry(call.name.clone()).or_insert(0) += 1;
        }
    }
    assert_eq!(called.values().copied().collect::<Vec<i32>>(), [20, 20, 20]);
    let calls = |history: &[Message]| -> Vec<String> {
        history.iter().flat_map(Message::calls).map(|it| it.arguments.clone()).collect()
    };
    assert_eq!(calls(&history), calls(&run(3).await));
    assert_ne!(calls(&history), calls(&run(4).await));
}

#[tokio::test]
async fn a_tool_that_is_left_out_is_never_called() {
    let model = ExploringModel::new(1).without("complete_task").without("wait").without("delete");
    let executor = builder(&Log::default()).unrestricted().build().unwrap();
    let agent = Agent::on(executor, model).max_turns(30).max_repeated_failures(100);
    let mut run = agent.build().unwrap().new_run("r").start().unwrap();
    run.send("go").await.unwrap();
    let names: std::collections::BTreeSet<_> =
        run.history().iter().flat_map(Message::calls).map(|it| it.name.as_str()).collect();
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["add", "fail", "look_up"]);
}

#[tokio::test]
async fn an_assertion_that_nothing_was_asked_fails_where_something_was() {
    let model = Arc::new(CountingModel::new(ScriptedModel::new().says("Done.")));
    let executor = Executor::builder(Registry::empty()).build().unwrap();
    let agent = Agent::on(executor, Arc::clone(&model)).build().unwrap();
    let mut run = agent.new_run("r").start().unwrap();
    model.assert_unasked();
    run.send("go").await.unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| model.assert_unasked())).is_err());
    model.assert_unasked_since(1);
}
