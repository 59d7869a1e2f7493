//! Everything wrong with a value, as far as it is told.

use crate::schema::{Teller, has_long_places};
use toolwright_core::input::{Problem, Rule};

use super::site::Schema;
use toolwright_core::json::tree::{Node, push_segment};

/// The most problems that are put into words; the rest are counted.
const MOST: usize = 100;
/// A value heavier than this is judged up to its first problem.
const HEAVIEST: usize = 10_000;

/// Everything wrong with a value, and how much more there is.
pub(super) fn problems(schema: &Schema, node: &Node) -> (Vec<Problem>, usize) {
    let digits = |pointer: &str| match node.at(pointer) {
        Some(Node::Number(digits)) => Some(digits.clone()),
        _ => None,
    };
    let teller = Teller { source: &schema.source, digits: &digits };
    let Some(value) = node.value() else {
        let (mut found, mut more) = (Vec::new(), 0);
        out_of_reach(node, &mut String::new(), &mut found, &mut more);
        return (found, more);
    };
    let mut found = Vec::new();
    if node.weight() > HEAVIEST || has_long_places(&value) {
        if let Err(error) = schema.root.validate(&value) {
            teller.tell(&error, &mut found);
        }
        return (found, 0);
    }
    let mut more = 0;
    for error in schema.root.iter_errors(&value) {
        if found.len() < MOST {
            teller.tell(&error, &mut found);
        } else {
            more += 1;
        }
    }
    (found, more)
}

/// Numbers that no validator can read.
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
            let mut problem = Problem::new(Rule::Range, digits, "a number nearer to 0");
            problem.pointer.clone_from(place);
            found.push(problem);
        }
        _ => {}
    }
}
