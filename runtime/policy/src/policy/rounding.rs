//! Compares numbers as tools get them. A JSON number may have more digits than a float can hold, and a tool that takes
//! a float gets the nearest float. If a limit were compared only with the written number, a number that is rounded to a
//! forbidden one would pass.
//!
//! - A number is compared with all its digits if the tool's schema accepts only integers there.
//! - A schema does not say how wide a float is. If the widths give different results, the result is unknown.

use std::collections::BTreeSet;

use serde_json::Value;

use super::decimal::Decimal;
use super::holds::Holds;
use toolwright_core::json::canonical_of;
use toolwright_core::json::pointer::index;
use toolwright_core::json::reference;
use toolwright_core::json::tree::Node;

/// The depth up to which references and choices in a schema are followed.
const DEEPEST: usize = 64;

/// The widths that a float may have, in bits.
#[derive(Debug, Clone, Copy)]
enum Width {
    Double,
    Single,
    /// A single-precision float made from a double: serde buffers a value until it knows its type, and so rounds twice.
    SingleOfDouble,
}

const WIDTHS: [Width; 3] = [Width::Double, Width::Single, Width::SingleOfDouble];

/// The type of numbers that a tool reads at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// Integers, with all digits.
    Integers,
    /// Floats, to which numbers are rounded.
    Floats,
    /// The schema allows integers and floats at the place, or does not say.
    Unknown,
}

/// A place in the arguments of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'p> {
    /// The schema of the arguments, if the tool is known.
    pub(super) schema: Option<&'p Value>,
    pub(super) segments: &'p [String],
}

impl Place<'_> {
    /// Returns the type of numbers that the tool reads at this place, or in the items of a list at this place.
    fn reads(self) -> Reads {
        let Some(root) = self.schema else { return Reads::Unknown };
        let mut at = vec![root];
        for segment in self.segments {
            at = below(root, &at, Some(segment));
        }
        let mut types = BTreeSet::new();
        let mut is_open = at.is_empty();
        for _ in 0..DEEPEST {
            at = whole(root, &at);
            for schema in &at {
                match schema.get("type") {
                    Some(Value::String(name)) => drop(types.insert(name.as_str())),
                    Some(Value::Array(names)) => {
                        types.extend(names.iter().filter_map(Value::as_str));
                    }
                    _ => is_open |= !refers(schema),
                }
            }
            at.retain(|schema| schema.get("items").is_some());
            if at.is_empty() {
                break;
            }
            at = below(root, &at, None);
        }
        match (types.contains("integer"), types.contains("number")) {
            _ if is_open => Reads::Unknown,
            (true, false) => Reads::Integers,
            (false, true) => Reads::Floats,
            _ => Reads::Unknown,
        }
    }

    /// Decides whether a condition holds for the number that the tool gets, given the results for the written number
    /// and for the nearest float of each width.
    fn decide(self, written: bool, rounded: impl IntoIterator<Item = bool>) -> Holds {
        let mut rounded = rounded.into_iter().peekable();
        let Some(first) = rounded.peek().copied() else { return written.into() };
        let agree = rounded.all(|it| it == first);
        if agree && first == written {
            return written.into();
        }
        match self.reads() {
            Reads::Integers => written.into(),
            Reads::Floats if agree => first.into(),
            Reads::Floats | Reads::Unknown => Holds::Unknown,
        }
    }
}

/// A limit, both as it is written and rounded to each float width.
#[derive(Debug)]
pub(super) struct Limit {
    written: Decimal,
    rounded: [Option<Decimal>; WIDTHS.len()],
}

impl Limit {
    pub(super) fn of(number: &str) -> Self {
        Self { written: Decimal::of(number), rounded: round(number) }
    }

    /// Whether a number is on the given side of the limit.
    pub(super) fn holds(
        &self,
        number: &str,
        place: Place<'_>,
        side: impl Fn(std::cmp::Ordering) -> bool,
    ) -> Holds {
        let written = side(Decimal::of(number).cmp(&self.written));
        let numbers = round(number);
        let pairs = numbers.iter().zip(&self.rounded);
        let both = pairs.filter_map(|(one, limit)| Some((one.as_ref()?, limit.as_ref()?)));
        place.decide(written, both.map(|(one, limit)| side(one.cmp(limit))))
    }
}

/// Values in canonical form, both as they are written and rounded to each float width.
#[derive(Debug)]
pub(super) struct Values {
    written: BTreeSet<String>,
    rounded: [BTreeSet<String>; WIDTHS.len()],
}

impl Values {
    pub(super) fn of<'n>(values: impl Iterator<Item = &'n Node> + Clone) -> Self {
        let rounded =
            WIDTHS.map(|width| values.clone().map(|it| rounded_text(it, width)).collect());
        Self { written: values.map(canonical_of).collect(), rounded }
    }

    /// Whether a value is one of these values. Values with equal spelling are equal in every float width.
    pub(super) fn contains(&self, value: &Node, place: Place<'_>) -> Holds {
        if self.written.contains(&canonical_of(value)) {
            return Holds::Yes;
        }
        if !has_numbers(value) {
            return Holds::No;
        }
        let widths = WIDTHS.into_iter().zip(&self.rounded);
        let found = widths.map(|(width, values)| values.contains(&rounded_text(value, width)));
        place.decide(false, found)
    }
}

fn has_numbers(node: &Node) -> bool {
    match node {
        Node::Number(_) => true,
        Node::Array(items) => items.iter().any(has_numbers),
        Node::Object(entries) => entries.iter().any(|(_, it)| has_numbers(it)),
        _ => false,
    }
}

/// Returns the nearest float of each width; `None` if the number is beyond the range of that width, so that a tool with
/// such a float refuses it.
fn round(number: &str) -> [Option<Decimal>; WIDTHS.len()] {
    WIDTHS.map(|width| nearest(number, width).map(|it| Decimal::of(&it)))
}

/// Returns the shortest decimal that parses to the nearest float.
fn nearest(number: &str, width: Width) -> Option<String> {
    let double = || number.parse::<f64>().ok().filter(|it| it.is_finite());
    let single = match width {
        Width::Double => return double().map(|it| format!("{it:e}")),
        Width::Single => number.parse::<f32>().ok(),
        Width::SingleOfDouble => double().map(|it| it as f32),
    };
    single.filter(|it| it.is_finite()).map(|it| format!("{it:e}"))
}

fn rounded_text(value: &Node, width: Width) -> String {
    fn round(node: &Node, width: Width) -> Node {
        match node {
            Node::Number(number) => {
                Node::Number(nearest(number, width).unwrap_or_else(|| number.clone()))
            }
            Node::Array(items) => Node::Array(items.iter().map(|it| round(it, width)).collect()),
            Node::Object(entries) => {
                let entries = entries.iter().map(|(key, it)| (key.clone(), round(it, width)));
                Node::Object(entries.collect())
            }
            other => other.clone(),
        }
    }
    canonical_of(&round(value, width))
}

fn refers(schema: &Value) -> bool {
    ["$ref", "anyOf", "oneOf", "allOf", "enum", "const"].iter().any(|it| schema.get(it).is_some())
}

/// Returns these schemas, and all schemas that they refer to or combine.
fn whole<'s>(root: &'s Value, schemas: &[&'s Value]) -> Vec<&'s Value> {
    let mut found: Vec<&'s Value> = Vec::new();
    let mut open = schemas.to_vec();
    while let Some(schema) = open.pop() {
        if found.iter().any(|it| std::ptr::eq(*it, schema)) {
            continue;
        }
        found.push(schema);
        open.extend(reference::target(root, schema));
        let parts = ["anyOf", "oneOf", "allOf"].into_iter();
        open.extend(parts.filter_map(|it| schema.get(it)?.as_array()).flatten());
    }
    found
}

/// Lists the schemas of the value under a key, or of the items if no key is given.
fn below<'s>(root: &'s Value, schemas: &[&'s Value], segment: Option<&str>) -> Vec<&'s Value> {
    let mut found = Vec::new();
    for schema in whole(root, schemas) {
        let listed = segment.and_then(index).and_then(|it| schema.get("prefixItems")?.get(it));
        let named = segment.and_then(|it| schema.get("properties")?.get(it));
        let items = schema.get("items").filter(|_| segment.is_none_or(|it| index(it).is_some()));
        let additional = schema.get("additionalProperties").filter(|_| segment.is_some());
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        let patterns = patterns.filter(|_| segment.is_some()).into_iter().flatten();
        found.extend(named.or(additional).into_iter().chain(listed.or(items)));
        found.extend(patterns.map(|(_, it)| it));
    }
    found.retain(|it| it.is_object());
    found
}
