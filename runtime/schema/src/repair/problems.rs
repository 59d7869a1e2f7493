//! Lists the problems of a value, up to a limit.

use crate::schema::{Depth, has_long_places};
use std::collections::HashSet;
use toolwright_core::input::words;
use toolwright_core::input::{Problem, Rule};

use super::site::Schema;
use toolwright_core::json::tree::{Node, push_segment};

/// The maximum number of problems that are described. Further problems are only counted.
const MOST: usize = 100;
/// The weight above which a value is checked only up to its first problem: see [`Node::weight`].
const HEAVIEST: usize = 10_000;

/// Returns the problems of a value, and the number of further problems.
pub(super) fn problems(schema: &Schema, node: &Node) -> (Vec<Problem>, usize) {
    let digits = |pointer: &str| match node.at(pointer) {
        Some(Node::Number(digits)) => Some(digits.clone()),
        _ => None,
    };
    let (mut far, mut far_more) = (Vec::new(), 0);
    let value = node.value().or_else(|| {
        out_of_reach(node, &mut String::new(), &mut far, &mut far_more);
        within_reach(node).value()
    });
    let Some(mut value) = value else { return (far, far_more) };
    value.sort_all_objects();
    let is_heavy = node.weight() > HEAVIEST || has_long_places(&value);
    let depth = if is_heavy { Depth::First } else { Depth::UpTo(MOST) };
    let mut explained = schema.explainer.explain(&schema.source, &value, &digits, depth);
    add(far, &mut explained.problems);
    (explained.problems, explained.more.max(far_more))
}

/// Adds the problems of numbers that the validator cannot represent, unless another problem has the same place.
fn add(far: Vec<Problem>, found: &mut Vec<Problem>) {
    let said: HashSet<String> = found.iter().map(|it| it.pointer.clone()).collect();
    found.extend(far.into_iter().filter(|it| !said.contains(&it.pointer)));
}

/// Copies a value. A number that the validator cannot represent becomes the nearest number that it can represent.
fn within_reach(node: &Node) -> Node {
    match node {
        Node::Array(items) => Node::Array(items.iter().map(within_reach).collect()),
        Node::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| (key.clone(), within_reach(value)));
            Node::Object(entries.collect())
        }
        Node::Number(digits) if node.value().is_none() => {
            let sign = if digits.starts_with('-') { "-" } else { "" };
            Node::Number(format!("{sign}{:e}", f64::MAX))
        }
        other => other.clone(),
    }
}

/// Finds the numbers that the validator cannot represent.
fn out_of_reach(node: &Node, place: &mut String, found: &mut Vec<Problem>, more: &mut usize) {
    let mut within = |place: &mut String, key: &str, node: &Node| {
        let length = place.len();
        push_segment(place, key);
        out_of_reach(node, place, found, more);
        place.truncate(length);
    };
    match node {
        Node::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                within(place, &index.to_string(), item);
            }
        }
        Node::Object(entries) => {
            for (key, value) in entries {
                within(place, key, value);
            }
        }
        Node::Number(_) if found.len() == MOST && node.value().is_none() => *more += 1,
        Node::Number(digits) if node.value().is_none() => {
            let mut problem = Problem::new(Rule::Range, digits, words::float_range(f64::MAX));
            problem.pointer.clone_from(place);
            found.push(problem);
        }
        _ => {}
    }
}
