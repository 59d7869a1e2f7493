//! Finds the key that distinguishes the branches of a union, such as serde's `tag`, and checks the value of that key.

use std::cell::Cell;
use std::collections::HashSet;

use serde_json::{Map, Value};
use toolwright_core::input::{Problem, Rule, words};
use toolwright_core::json::pointer::below;
use toolwright_core::schema::words::expected;

use super::steps::Step;
use crate::schema::problems::show;

/// The maximum number of references that lead from a branch to its schema.
const MOST_REFERENCES: usize = 8;

/// Describes the problem of a value whose tag is missing or invalid. Such a value fits no branch, so the errors of the
/// branches would mislead. Returns `None` if the union has no tag, or the tag is valid.
pub(super) fn problem(
    source: &Value,
    step: &Step,
    value: &Value,
    at: &str,
    left: &Cell<usize>,
) -> Option<Problem> {
    let value = value.as_object()?;
    let (key, choices) = tag(source, step)?;
    let found = value.get(key);
    if found.and_then(Value::as_str).is_some_and(|found| choices.contains(&found)) {
        return None;
    }
    let wanted = Value::from(choices.clone());
    let wanted = expected(&Map::from_iter([("enum".to_owned(), wanted)]).into(), source);
    let mut problem = match found {
        Some(found) => Problem::new(Rule::Choice, &show(found), wanted),
        None => Problem::new(Rule::MissingKey, "", wanted),
    };
    problem.pointer = below(at, key);
    if let Some(Value::String(text)) = found {
        problem.near = words::nearest_within(text, choices.into_iter(), left);
    }
    Some(problem)
}

/// Finds a key that every branch requires, and for which each branch allows one text that no other branch allows.
fn tag<'s>(source: &'s Value, step: &Step) -> Option<(&'s str, Vec<&'s str>)> {
    let branches = step.ways.iter().map(|way| resolve(source, source.pointer(way.place())?));
    let branches: Vec<&Value> = branches.collect::<Option<_>>()?;
    let first = branches.first().filter(|_| branches.len() > 1)?;
    let keys = first.get("properties")?.as_object()?.keys();
    let mut tags = keys.filter_map(|key| {
        let choices = branches.iter().map(|branch| only_text(branch, key));
        let choices: Vec<&str> = choices.collect::<Option<_>>()?;
        let differ = choices.iter().collect::<HashSet<_>>().len() == choices.len();
        differ.then_some((key.as_str(), choices))
    });
    tags.next()
}

/// Follows the references of a branch to a schema without a reference.
fn resolve<'s>(source: &'s Value, mut branch: &'s Value) -> Option<&'s Value> {
    for _ in 0..MOST_REFERENCES {
        let Some(reference) = branch.get("$ref") else { return Some(branch) };
        branch = source.pointer(reference.as_str()?.strip_prefix('#')?)?;
    }
    None
}

/// Returns the only text that a branch allows for a required key.
fn only_text<'s>(branch: &'s Value, key: &str) -> Option<&'s str> {
    let is_required = branch.get("required")?.as_array()?.iter().any(|it| it == key);
    let property = branch.get("properties")?.get(key).filter(|_| is_required)?;
    match (property.get("const"), property.get("enum").and_then(Value::as_array)) {
        (Some(only), _) => only.as_str(),
        (None, Some(choices)) => choices.first().filter(|_| choices.len() == 1)?.as_str(),
        (None, None) => None,
    }
}
