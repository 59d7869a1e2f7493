//! Finds out from a tool's schema whether an argument can have the value that a rule tests for. A rule for an
//! impossible value never matches, and its author would not notice. Values that the schema does not clearly exclude
//! count as possible.

use serde_json::Value;

use super::argument::Test;
use super::compile::keys;
use super::problem::{At, Problems, suggestion};
use toolwright_core::json::pointer::{index, segments};
use toolwright_core::json::tree::Node;
use toolwright_core::json::{canonical, canonical_of, read, reference};
use toolwright_core::tool::Definition;

/// The nesting depth up to which choices in a schema are followed.
const DEPTH: usize = 16;

/// How many schemas are examined for one value. There is a limit, because a foreign schema may reference itself.
const SCHEMAS: usize = 4096;

/// Reports each value for which a rule tests an argument, if no call of these tools can give the argument that value.
pub(super) fn check(
    rule: &str,
    pointer: &At<String>,
    test: &Test,
    tools: &[&Definition],
    problems: &mut Problems,
) {
    let Some(parts) = segments(&pointer.value) else { return };
    let (is_item, values) = match test {
        Test::OneOf(values) => (false, values),
        Test::Contains(_) | Test::Begins(_)
            if tools.iter().any(|it| it.command_lines().any(|it| it == pointer.value)) =>
        {
            return;
        }
        Test::Contains(values) | Test::Within(values) | Test::Begins(values) => (true, values),
        _ => return,
    };
    for value in values {
        // `ValueTest::compile` reports a value that cannot be read.
        let nodes = match (test, read(&value.value)) {
            (Test::Begins(_), Ok(Node::Array(items))) => items,
            (Test::Begins(_), _) | (_, Err(_)) => continue,
            (_, Ok(node)) => vec![node],
        };
        for node in nodes {
            let Some((tool, expected)) = refused_by_all(&node, &parts, is_item, tools) else {
                continue;
            };
            let what = if is_item { "an item of " } else { "" };
            let message = format!(
                "rule `{rule}`: {what}`{}` of `{tool}` is never `{}`{expected}",
                pointer.value,
                canonical_of(&node)
            );
            problems.add(value.place.as_ref().or(pointer.place.as_ref()), message);
        }
    }
}

/// Returns the first tool that never takes this value, and the values that it takes. Returns `None` if one of the tools
/// takes the value, or its schema does not say.
fn refused_by_all<'t>(
    value: &Node,
    parts: &[String],
    is_item: bool,
    tools: &[&'t Definition],
) -> Option<(&'t str, String)> {
    let mut refused = None;
    for &tool in tools {
        let root = tool.final_schema();
        match at(root, parts, is_item) {
            Some(schema) => {
                let mut expected = ExpectedValues::default();
                if can_be(root, schema, value, DEPTH, &mut expected) {
                    return None;
                }
                refused.get_or_insert_with(|| (tool.name.as_str(), expected.words(value)));
            }
            None if lacks(tool, parts) => {}
            None => return None,
        }
    }
    refused
}

/// Whether a tool has no argument with this path.
fn lacks(tool: &Definition, parts: &[String]) -> bool {
    keys(tool).is_some_and(|mut keys| parts.first().is_some_and(|part| !keys.any(|it| it == part)))
}

/// Returns the schema of the value at a place, or of its items. Returns `None` if the root schema is not clear about
/// it.
fn at<'s>(root: &'s Value, parts: &[String], is_item: bool) -> Option<&'s Value> {
    let schema = parts.iter().try_fold(root, |schema, part| {
        let schema = reference::follow(root, schema)?;
        let property = schema.get("properties").and_then(|it| it.get(part));
        property.or_else(|| items(schema).filter(|_| index(part).is_some()))
    })?;
    if is_item { items(reference::follow(root, schema)?) } else { Some(schema) }
}

/// Returns the schema of a list's items.
fn items(schema: &Value) -> Option<&Value> {
    schema.get("items").filter(|_| schema.get("prefixItems").is_none())
}

/// The values that a schema accepts.
#[derive(Default)]
struct ExpectedValues {
    values: Vec<String>,
    kinds: Vec<String>,
    /// The number of schemas that were examined so far.
    seen: usize,
}

impl ExpectedValues {
    fn words(mut self, found: &Node) -> String {
        if !self.values.is_empty() {
            return suggestion(&canonical_of(found), self.values.iter().map(String::as_str));
        }
        self.kinds.dedup();
        format!("; expected {}", self.kinds.join(" or "))
    }
}

fn can_be(
    root: &Value,
    schema: &Value,
    value: &Node,
    depth: usize,
    expected: &mut ExpectedValues,
) -> bool {
    expected.seen += 1;
    let is_followed = depth > 0 && expected.seen <= SCHEMAS;
    let Some(schema) = reference::follow(root, schema).filter(|_| is_followed) else { return true };
    let text = canonical_of(value);
    let only = schema.get("const").map(std::slice::from_ref);
    let values = only.or_else(|| schema.get("enum").and_then(Value::as_array).map(Vec::as_slice));
    if let Some(values) = values {
        let values: Vec<String> =
            values.iter().filter_map(|it| canonical(&it.to_string()).ok()).collect();
        if values.contains(&text) {
            return true;
        }
        expected.values.extend(values);
        return false;
    }
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is_of(value, kind)) {
        expected.kinds.extend(kinds.into_iter().filter(|it| *it != "null").map(in_words));
        return false;
    }
    let choice = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(key)?.as_array());
    choice.is_none_or(|all| {
        // Every alternative is examined, so that the message names all expected values.
        let can = |it: &&Value| can_be(root, it, value, depth - 1, expected);
        all.is_empty() || all.iter().filter(can).count() > 0
    })
}

fn is_of(value: &Node, kind: &str) -> bool {
    match value {
        Node::Object(_) => kind == "object",
        Node::Array(_) => kind == "array",
        Node::Text(_) => kind == "string",
        Node::Number(_) => matches!(kind, "number" | "integer"),
        Node::Bool(_) => kind == "boolean",
        Node::Null => kind == "null",
    }
}

fn in_words(kind: &str) -> String {
    match kind {
        "string" => "a text".to_owned(),
        "array" => "a list".to_owned(),
        "integer" => "an integer".to_owned(),
        "object" => "an object".to_owned(),
        other => format!("a {other}"),
    }
}
