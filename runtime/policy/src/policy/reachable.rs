//! Determines from a tool's schema which types a value at a place of its arguments can have. There are none if the
//! place cannot exist. A rule about such a place, or with a test for another type, never matches. Types that the schema
//! does not clearly exclude count as possible.

use std::cell::Cell;
use std::collections::BTreeSet;

use serde_json::Value;

use super::argument::Test;
use super::problem::{At, Problems};
use toolwright_core::json::pointer::{below, index, segments};
use toolwright_core::json::reference;
use toolwright_core::tool::Definition;

/// The nesting depth up to which a schema is followed.
const DEPTH: usize = 64;

/// How many schemas are examined for one place. There is a limit, because a foreign schema may reference itself.
const SCHEMAS: usize = 4096;

/// The types that a value at a place can have; `None` if it can have any type.
type Kinds = Option<BTreeSet<&'static str>>;

/// Reports a test if none of these tools has the place, or values at the place never have the type that the test is
/// for. Returns whether it reported a problem.
pub(super) fn check(
    rule: &str,
    pointer: &At<String>,
    test: &Test,
    tools: &[&Definition],
    problems: &mut Problems,
) -> bool {
    let Some(parts) = segments(&pointer.value) else { return false };
    let found = tools.iter().map(|tool| (*tool, kinds_at(tool, &parts)));
    let found: Vec<(&Definition, Kinds)> = found.collect();
    let is_empty = |kinds: &Kinds| kinds.as_ref().is_some_and(BTreeSet::is_empty);
    if let [(tool, _), ..] = found.as_slice()
        && found.iter().all(|(_, kinds)| is_empty(kinds))
    {
        let message =
            format!("rule `{rule}`: nothing is at `{}`: {}", pointer.value, dead_end(tool, &parts));
        problems.add(pointer.place.as_ref(), message);
        return true;
    }
    let Some((wanted, words)) = kinds_of(test) else { return false };
    let is_line = |tool: &Definition| tool.command_lines().any(|it| it == pointer.value);
    let is_apart = |kinds: &Kinds| {
        kinds.as_ref().is_some_and(|kinds| !kinds.iter().any(|it| wanted.contains(it)))
    };
    let is_other = |(tool, kinds): &(&Definition, Kinds)| is_apart(kinds) && !is_line(tool);
    let there = found.iter().find(|(_, kinds)| !is_empty(kinds));
    let Some((tool, kinds)) = there.filter(|_| found.iter().all(is_other)) else { return false };
    let message = format!(
        "rule `{rule}`: `{}` of `{}` is never {words}, which this test is for: it is {}",
        pointer.value,
        tool.name,
        in_words(kinds)
    );
    problems.add(pointer.place.as_ref(), message);
    true
}

/// Returns the types that a test can be applied to, and a description of them.
fn kinds_of(test: &Test) -> Option<(&'static [&'static str], &'static str)> {
    match test {
        // `possible` compares the values of `OneOf` with the schema, and command lines are checked elsewhere.
        Test::OneOf(_) | Test::Program(_) => None,
        Test::Contains(_) | Test::Within(_) | Test::Begins(_) => Some((&["array"], "a list")),
        Test::Flags(_) | Test::OnlyFlags(_) => Some((&["array"], "a list")),
        Test::Under(_) | Test::Glob(_) => Some((&["string", "array"], "a text or a list")),
        Test::Limit(..) => Some((&["number", "array"], "a number or a list")),
    }
}

/// Describes the last place on the path that can exist.
fn dead_end(tool: &Definition, parts: &[String]) -> String {
    let mut count = parts.len();
    while let Some(shorter) = count.checked_sub(1) {
        count = shorter;
        let kinds = kinds_at(tool, &parts[..count]);
        if kinds.as_ref().is_none_or(|it| !it.is_empty()) {
            let pointer = parts[..count].iter().fold(String::new(), |all, part| below(&all, part));
            let without = match &kinds {
                Some(kinds) if kinds.contains("object") => format!(" without `{}`", parts[count]),
                _ => String::new(),
            };
            let name = &tool.name;
            return match pointer.as_str() {
                "" => format!("`{name}` has no such argument"),
                pointer => format!("`{pointer}` of `{name}` is {}{without}", in_words(&kinds)),
            };
        }
    }
    format!("`{}` takes no arguments", tool.name)
}

fn kinds_at(tool: &Definition, parts: &[String]) -> Kinds {
    let left = Cell::new(SCHEMAS);
    Walk { root: tool.final_schema(), left }.kinds(tool.final_schema(), parts, DEPTH)
}

/// One search in a schema.
struct Walk<'s> {
    root: &'s Value,
    left: Cell<usize>,
}

impl Walk<'_> {
    fn kinds(&self, schema: &Value, parts: &[String], depth: usize) -> Kinds {
        let depth = depth.checked_sub(1)?;
        self.left.set(self.left.get().checked_sub(1)?);
        let schema = reference::follow(self.root, schema)?;
        if *schema == Value::Bool(false) {
            return Some(BTreeSet::new());
        }
        let mut found = self.own(schema, parts, depth);
        for key in ["anyOf", "oneOf"] {
            let Some(branches) = schema.get(key).and_then(Value::as_array) else { continue };
            let mut each = branches.iter().map(|it| self.kinds(it, parts, depth));
            found = both(found, each.try_fold(BTreeSet::new(), |all, it| Some(&all | &it?)));
        }
        let all = schema.get("allOf").and_then(Value::as_array);
        all.into_iter().flatten().fold(found, |found, it| both(found, self.kinds(it, parts, depth)))
    }

    /// Returns the types that the schema's own keywords allow, without the alternatives in `anyOf` and the like.
    fn own(&self, schema: &Value, parts: &[String], depth: usize) -> Kinds {
        let only = schema.get("const").map(std::slice::from_ref);
        let values = only.or_else(|| Some(schema.get("enum")?.as_array()?.as_slice()));
        if let Some(values) = values {
            let pointer = parts.iter().fold(String::new(), |all, part| below(&all, part));
            let there = values.iter().filter_map(|it| it.pointer(&pointer));
            return Some(there.map(kind_of).collect());
        }
        let types: Kinds = match schema.get("type") {
            Some(Value::String(name)) => Some([name_of(name)].into()),
            Some(Value::Array(names)) => {
                Some(names.iter().filter_map(Value::as_str).map(name_of).collect())
            }
            _ => None,
        };
        let Some((part, rest)) = parts.split_first() else { return types };
        let may_be = |kind| types.as_ref().is_none_or(|it| it.contains(kind));
        let mut found = BTreeSet::new();
        if may_be("object") {
            found.extend(self.in_object(schema, (part, rest), depth)?);
        }
        if let Some(place) = index(part).filter(|_| may_be("array")) {
            found.extend(self.in_list(schema, (place, rest), depth)?);
        }
        Some(found)
    }

    fn in_object(&self, schema: &Value, (part, rest): (&str, &[String]), depth: usize) -> Kinds {
        if let Some(property) = schema.get("properties").and_then(|it| it.get(part)) {
            return self.kinds(property, rest, depth);
        }
        let others = schema.get("additionalProperties");
        let others = others.filter(|_| schema.get("patternProperties").is_none())?;
        self.kinds(others, rest, depth)
    }

    fn in_list(&self, schema: &Value, (place, rest): (usize, &[String]), depth: usize) -> Kinds {
        let first = schema.get("prefixItems").and_then(Value::as_array);
        let item = first.and_then(|it| it.get(place)).or_else(|| schema.get("items"))?;
        self.kinds(item, rest, depth)
    }
}

fn both(one: Kinds, other: Kinds) -> Kinds {
    match (one, other) {
        (Some(one), Some(other)) => Some(&one & &other),
        (one, other) => one.or(other),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Object(_) => "object",
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Number(_) => "number",
        Value::Bool(_) => "boolean",
        Value::Null => "null",
    }
}

fn name_of(name: &str) -> &'static str {
    let known = ["object", "array", "string", "number", "boolean", "null"];
    // An integer counts as a number here; schemas that name other types were refused earlier.
    known.into_iter().find(|it| *it == name).unwrap_or("number")
}

fn in_words(kinds: &Kinds) -> String {
    let word = |kind: &&'static str| match *kind {
        "string" => "a text",
        "array" => "a list",
        "object" => "an object",
        "number" => "a number",
        "boolean" => "a boolean",
        other => other,
    };
    let words: Vec<&str> = kinds.iter().flatten().map(word).collect();
    if words.is_empty() { "any value".to_owned() } else { words.join(" or ") }
}
