//! Values made from each tool's own schema, and values that are a little wrong: whatever
//! `jsonschema` says of them, the reader says too.
//!
//! One class of numbers is left out: floats past 2^53 that are whole. `jsonschema` sees them rounded to
//! 64 bits, the reader as they are written, so at the very ends of an integer type their answers
//! differ, and the reader's is the right one.

use std::collections::BTreeMap;

use jsonschema::Validator;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use toolwright::{Call, Executor};

use super::changes::{apply, change};
use super::kinds;
use super::values::values;
use crate::support::strict;

/// Tools that may refuse what their schema takes, each with its reason.
const NARROWER: &[(&str, &str)] = &[(
    "a_url",
    "a URI of RFC 3986 may have a host or port that no URL of the web has, as `http://.0` and `ftp://a:99999` do; \
     a pattern that leaves them out would leave out good ones too",
)];

/// Whether the executor and `jsonschema` make the same of the text; whether they take it.
fn agree(
    executor: &Executor,
    validator: &Validator,
    name: &str,
    input: &Value,
) -> Result<bool, TestCaseError> {
    let valid = validator.is_valid(input);
    agree_on(executor, name, &input.to_string(), valid)?;
    agree_on(executor, name, &reversed(input), valid)
}

/// The text of a value with the keys of every object from the last to the first: a tag that comes
/// late is read in another way.
fn reversed(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            format!("[{}]", items.iter().map(reversed).collect::<Vec<_>>().join(","))
        }
        Value::Object(object) => {
            let entry =
                |(key, value): (&String, &Value)| format!("{}:{}", json!(key), reversed(value));
            format!("{{{}}}", object.iter().rev().map(entry).collect::<Vec<_>>().join(","))
        }
        scalar => scalar.to_string(),
    }
}

fn agree_on(
    executor: &Executor,
    name: &str,
    text: &str,
    valid: bool,
) -> Result<bool, TestCaseError> {
    let read = executor.examine(&Call::new(name, text));
    if valid && NARROWER.iter().any(|(tool, _)| *tool == name) {
        return Ok(valid);
    }
    let why = read.as_ref().err().map(|error| error.message().to_owned());
    prop_assert_eq!(read.is_ok(), valid, "{} reads {} ({:?})", name, text, why);
    Ok(valid)
}

fn validator(schema: &Value) -> Validator {
    jsonschema::options()
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .should_validate_formats(true)
        .build(schema)
        .unwrap()
}

#[test]
fn what_the_schema_takes_the_reader_takes_and_nothing_else() {
    let executor = strict([kinds::tools(), kinds::whole()].concat());
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(100);
    let mut disagreements: BTreeMap<String, String> = BTreeMap::new();
    for definition in executor.registry().definitions() {
        let schema = &definition.input_schema;
        let validator = validator(schema);
        let mut taken = 0;
        let mut runner =
            TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
        let inputs =
            (values(schema, schema, 3), prop::collection::vec((any::<Index>(), change()), 0..3));
        let tested = runner.run(&inputs, |(mut input, changes)| {
            agree(&executor, &validator, &definition.name, &input)?;
            for (at, change) in changes {
                apply(&mut input, at, change);
                agree(&executor, &validator, &definition.name, &input)?;
            }
            Ok(())
        });
        if let Err(error) = tested {
            disagreements.insert(definition.name.clone(), error.to_string());
        }
        // The generator must know the type, or the property would say nothing.
        for _ in 0..200 {
            let tree = values(schema, schema, 3).new_tree(&mut runner).unwrap();
            taken += u32::from(validator.is_valid(&tree.current()));
        }
        if taken < 20 {
            disagreements
                .entry(definition.name.clone())
                .or_insert(format!("only {taken} of 200 values are valid"));
        }
    }
    let told: Vec<_> = disagreements.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    assert!(told.is_empty(), "{}", told.join("\n\n"));
}
