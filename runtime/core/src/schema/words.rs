//! Describes in words which values a schema accepts, for a message.

use serde_json::Value;

use super::texts::format_of;
use crate::input::{formats, words};

/// The maximum nesting depth to which a schema is described.
const DEEPEST: usize = 4;
/// 2^53. Larger bounds come from the width of a machine type, so descriptions leave them out.
const WIDE: f64 = 9_007_199_254_740_992.0;
/// The maximum number of alternatives of a union that are described.
const MOST_WAYS: usize = 12;
/// The maximum number of characters of a description.
const LONGEST: usize = 1_200;

/// Describes the values that a schema accepts: `a string`, `an integer of at least 1`, `one of "a", "b"`. The
/// references of the schema are resolved in `root`.
pub fn expected(schema: &Value, root: &Value) -> String {
    words::shorten_to(&within(schema, root, 0), LONGEST)
}

fn within(schema: &Value, root: &Value, depth: usize) -> String {
    let nothing = || "a value".to_owned();
    if depth > DEEPEST {
        return nothing();
    }
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return one_of(choices);
    }
    if let Some(only) = schema.get("const") {
        return words::shorten(&only.to_string());
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let target = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return target.map_or_else(nothing, |it| within(it, root, depth + 1));
    }
    for keyword in ["oneOf", "anyOf"] {
        let Some(choices) = schema.get(keyword).and_then(Value::as_array) else { continue };
        let constants: Option<Vec<&Value>> = choices.iter().map(|it| it.get("const")).collect();
        match constants {
            Some(constants) => return one_of(constants),
            None if schema.get("type").is_none() => return any_of(choices, root, depth),
            None => {}
        }
    }
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(only)) => vec![only],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => return nothing(),
    };
    let each: Vec<String> = types.iter().map(|it| of_type(it, schema, root, depth)).collect();
    each.join(" or ")
}

fn any_of(choices: &[Value], root: &Value, depth: usize) -> String {
    let mut each: Vec<String> = Vec::new();
    let mut length = 0;
    for choice in choices.iter().take(MOST_WAYS) {
        let one = within(choice, root, depth + 1);
        if !each.contains(&one) {
            length += one.len();
            each.push(one);
        }
        // The rest would be cut off. A character has at most four bytes.
        if length > 4 * LONGEST {
            break;
        }
    }
    each.join(" or ")
}

fn one_of<'v>(choices: impl IntoIterator<IntoIter: ExactSizeIterator<Item = &'v Value>>) -> String {
    words::one_of_shown(choices.into_iter().map(|it| words::shorten(&it.to_string())))
}

fn of_type(name: &str, schema: &Value, root: &Value, depth: usize) -> String {
    match name {
        "string" => match counts(schema, "minLength", "maxLength", "character") {
            Some(characters) => format!("a string of {characters}"),
            None => in_format(schema).unwrap_or("a string").to_owned(),
        },
        "integer" => number("an integer", schema, None),
        "number" => number("a number", schema, None),
        "boolean" => "true or false".to_owned(),
        "array" => {
            let items = schema.get("items").filter(|it| it.is_object());
            let items = items.map(|it| within(it, root, depth + 1)).filter(|it| it != "a value");
            let counts = counts(schema, "minItems", "maxItems", "item");
            let of = counts.map(|it| format!(" of {it}")).unwrap_or_default();
            let each = items.map(|it| format!(", each item {it}")).unwrap_or_default();
            format!("an array{of}{each}")
        }
        "object" => "an object".to_owned(),
        other => other.to_owned(),
    }
}

/// Returns words such as `a date such as 2026-11-20`; `None` if the schema has no known format.
#[doc(hidden)]
pub fn in_format(schema: &Value) -> Option<&'static str> {
    let known = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
    if let Some(text) = known("format").and_then(formats::of_format) {
        return Some(text);
    }
    if let Some(format) = known("pattern").and_then(format_of) {
        return formats::of_format(format);
    }
    // Of all unions, only this one has a description as a format.
    let choices = schema.get("anyOf")?.as_array()?;
    let formats: Option<Vec<&str>> = choices.iter().map(|it| it.get("format")?.as_str()).collect();
    (formats? == ["ipv4", "ipv6"]).then(|| formats::of_format("ip"))?
}

/// Describes a range, such as `an integer from 1 to 9`. A bound that comes only from the width of a machine type is
/// left out, unless the input broke that bound: `broken` is the keyword of the broken bound.
pub fn number(what: &str, schema: &Value, broken: Option<&str>) -> String {
    let bound = |keyword| {
        let is_wide = |it: &Value| it.as_f64().is_some_and(|it| it.abs() >= WIDE);
        schema.get(keyword).filter(|it| broken == Some(keyword) || !is_wide(it))
    };
    words::between(what, bound("minimum"), bound("maximum"))
}

/// Returns words such as `1 to 20 characters`. `least` and `most` are the keywords of the minimum and the maximum.
pub fn counts(schema: &Value, least: &str, most: &str, unit: &str) -> Option<String> {
    // JSON Schema allows the number two to be written as `2.0`, too.
    let count = |keyword| {
        let number = schema.get(keyword)?;
        let whole = number.as_u64().or_else(|| number.to_string().strip_suffix(".0")?.parse().ok());
        usize::try_from(whole?).ok()
    };
    let (least, most) = (count(least).filter(|it| *it > 0), count(most));
    (least.is_some() || most.is_some()).then(|| words::counts(least, most, unit))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_union_of_unions_is_described_in_a_short_text() {
        let leaf = |number: usize| json!({"type": "integer", "minimum": number});
        let union = |ways: Vec<Value>| json!({"anyOf": ways});
        let inner = |first: usize| union((first..first + MOST_WAYS).map(leaf).collect());
        let schema = union((0..MOST_WAYS).map(|at| inner(at * MOST_WAYS + 1)).collect());
        let text = expected(&schema, &schema);
        assert!(text.starts_with("an integer of at least 1 or an integer of at least 2 or "));
        assert!(text.chars().count() <= LONGEST + 1, "{}", text.len());
    }

    #[test]
    fn a_schema_is_told_with_its_bounds_and_its_items() {
        for (schema, told) in [
            (json!({}), "a value"),
            (json!({"type": "string", "minLength": 1}), "a string of at least 1 character"),
            (
                json!({"type": "string", "minLength": 1, "maxLength": 20}),
                "a string of 1 to 20 characters",
            ),
            (
                json!({"type": "string", "minLength": 2.0, "maxLength": 2}),
                "a string of 2 characters",
            ),
            (json!({"type": "integer", "minimum": 1, "maximum": 9}), "an integer from 1 to 9"),
            (
                json!({"type": ["number", "null"], "maximum": 0.5}),
                "a number of at most 0.5 or null",
            ),
            (json!({"type": "array", "items": {}}), "an array"),
            (
                json!({"type": "array", "maxItems": 2, "items": {"enum": ["a", 1]}}),
                "an array of at most 2 items, each item one of \"a\", 1",
            ),
            (
                json!({"type": ["string", "null"], "format": "date"}),
                "a date such as 2026-11-20 or null",
            ),
            (json!({"type": "string", "format": "colour"}), "a string"),
            (
                json!({"type": "string", "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]}),
                "an IP address such as 192.0.2.1 or 2001:db8::1",
            ),
            (json!({"oneOf": [{"const": "a"}, {"const": "b"}]}), "one of \"a\", \"b\""),
            (json!({"anyOf": [{"type": "object"}, {"type": "null"}]}), "an object or null"),
            (json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "boolean"}}}), "true or false"),
        ] {
            assert_eq!(expected(&schema, &schema), told);
        }
    }
}
