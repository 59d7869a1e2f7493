//! The official test suite of JSONata, as `tests/jsonata-suite` has it: version 2.2.2 of jsonata-js, each case one line.

use std::collections::BTreeMap;
use std::time::Duration;

use jlens_core::{Bindings, CancelToken, Expression};
use serde_json::{Map, Value};

use super::limits;

const CASES: &str = include_str!("../../../tests/jsonata-suite/cases.jsonl");
const DATASETS: &str = include_str!("../../../tests/jsonata-suite/datasets.json");

/// The cases of the suite that fail, and why.
const FAILING: [(&str, &str); 6] = [
    ("function-encodeUrl/case002", "half of a surrogate pair, which is no text in Rust"),
    ("function-encodeUrlComponent/case002", "half of a surrogate pair, which is no text in Rust"),
    ("function-string/case019", "jlens refuses 1/0 where it is divided, not where it is printed"),
    ("range-operator/case021", "ten million items, which our limits refuse"),
    ("range-operator/case024", "ten million items, which our limits refuse"),
    ("tail-recursion/case002", "the suite's depth is 302, ours is larger, so that it succeeds"),
];

/// The codes with which a limit ends an evaluation; the suite expects `U1001`, the code of its own time limit.
const OF_LIMITS: [&str; 4] = ["D1011", "D1012", "U1001", "U1006"];

#[test]
fn the_official_suite_passes_but_for_the_cases_that_are_named() {
    let datasets: BTreeMap<String, Value> = serde_json::from_str(DATASETS).unwrap();
    let (mut all, mut failing) = (0, Vec::<(&str, String)>::new());
    for line in CASES.lines() {
        all += 1;
        let case = serde_json::from_str(line).map_err(|error| error.to_string());
        if let Err(reason) = case.and_then(|case| passes(&case, &datasets)) {
            let name = line.strip_prefix("{\"name\":\"").unwrap().split('"').next().unwrap();
            failing.push((name, reason));
        }
    }
    println!("{} of {all} cases of the official JSONata suite pass", all - failing.len());
    for (name, reason) in &failing {
        println!("  {name}: {reason}");
    }
    assert_eq!(all, 1686);
    let names: Vec<&str> = failing.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, FAILING.map(|(name, _)| name));
}

fn passes(case: &Map<String, Value>, datasets: &BTreeMap<String, Value>) -> Result<(), String> {
    let input = match (case.get("data"), case.get("dataset")) {
        (Some(data), _) => Some(data),
        (None, Some(Value::String(name))) => Some(&datasets[name]),
        (None, _) => None,
    };
    let mut bindings = Bindings::new();
    for (name, value) in case.get("bindings").and_then(Value::as_object).into_iter().flatten() {
        bindings = bindings.var(name, value.clone());
    }
    // Steps alone end what never ends, so that no case depends on how busy the machine is.
    let mut limits = limits(0, CancelToken::new()).timeout(Duration::from_secs(3600));
    if case.contains_key("timelimit") {
        limits = limits.max_steps(1_000_000);
    }
    let found = Expression::compile(case["expr"].as_str().unwrap())
        .and_then(|expression| expression.evaluate_with(input, &bindings, &limits))
        .map_err(|error| error.code().to_owned());
    let code = case.get("code").or_else(|| case.get("error")?.get("code")).and_then(Value::as_str);
    let has_passed = match (&found, code) {
        (Err(found), Some(code)) => {
            found == code || case.contains_key("timelimit") && OF_LIMITS.contains(&found.as_str())
        }
        (Ok(None), None) => case.contains_key("undefinedResult"),
        (Ok(Some(found)), None) => case
            .get("result")
            .is_some_and(|expected| are_equal(found, expected, case.contains_key("unordered"))),
        _ => false,
    };
    has_passed.then_some(()).ok_or_else(|| format!("found {found:?}"))
}

/// Whether two values are one to JavaScript, which has one kind of number.
fn are_equal(one: &Value, two: &Value, unordered: bool) -> bool {
    match (one, two) {
        (Value::Number(one), Value::Number(two)) => one.as_f64() == two.as_f64(),
        (Value::Array(one), Value::Array(two)) if unordered => {
            one.len() == two.len()
                && one.iter().all(|it| two.iter().any(|other| are_equal(it, other, false)))
        }
        (Value::Array(one), Value::Array(two)) => {
            one.len() == two.len()
                && one.iter().zip(two).all(|(one, two)| are_equal(one, two, false))
        }
        (Value::Object(one), Value::Object(two)) => {
            one.len() == two.len()
                && one
                    .iter()
                    .all(|(key, it)| two.get(key).is_some_and(|other| are_equal(it, other, false)))
        }
        _ => one == two,
    }
}
