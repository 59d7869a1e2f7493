//! Finds keywords of one schema that contradict each other, or that have no effect because of the schema's type.

use std::cmp::Ordering;
use std::collections::HashSet;

use serde_json::{Map, Number, Value};

use super::keywords;
use toolwright_core::input::shorten;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gravity {
    /// No value can be valid.
    Impossible,
    /// A keyword of the schema has no effect.
    Idle,
}

type Found = Vec<(Gravity, String)>;

/// Finds contradictions. First removes the entries of `enum` that the type excludes.
pub(super) fn find(schema: &mut Map<String, Value>, is_root: bool) -> Found {
    let mut found = Found::new();
    let kinds = kinds(schema);
    choices(schema, kinds.as_deref(), &mut found);
    let only = |kind: &str| {
        kinds
            .as_deref()
            .is_some_and(|kinds| !kinds.is_empty() && kinds.iter().all(|it| about_same(kind, it)))
    };
    limits(schema, &only, &mut found);
    check_required(schema, &only, &mut found);
    // A root without a type gets the type `object` later, so its keywords for objects have an effect.
    if !is_root || kinds.is_some() {
        idle(schema, kinds.as_deref(), &mut found);
    }
    found
}

fn kinds(schema: &Map<String, Value>) -> Option<Vec<String>> {
    match schema.get("type")? {
        Value::String(kind) => Some(vec![kind.clone()]),
        Value::Array(kinds) => {
            Some(kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        }
        _ => None,
    }
}

fn choices(schema: &mut Map<String, Value>, kinds: Option<&[String]>, found: &mut Found) {
    let fits = |value: &Value| kinds.is_none_or(|kinds| kinds.iter().any(|it| is_a(value, it)));
    let kind = kinds.map(|kinds| kinds.join(" or ")).unwrap_or_default();
    if let Some(only) = schema.get("const") {
        if !fits(only) {
            let only = shorten(&only.to_string());
            found.push((
                Gravity::Impossible,
                format!("`const` is {only}, but `type` is {kind}; no value is both"),
            ));
        }
        let choices = schema.get("enum").and_then(Value::as_array);
        if choices.is_some_and(|choices| !choices.iter().any(|it| may_equal(it, only))) {
            let only = shorten(&only.to_string());
            found.push((
                Gravity::Impossible,
                format!("`const` is {only}, which `enum` does not list"),
            ));
        }
    }
    let items_fit = schema.get("items").cloned();
    let Some(Value::Array(choices)) = schema.get_mut("enum") else { return };
    let mut seen = HashSet::new();
    let listed = choices.len();
    choices.retain(|choice| seen.insert(choice.to_string()));
    if choices.len() < listed {
        found.push((Gravity::Idle, "`enum` lists a value more than once".to_owned()));
    }
    let wrong: Vec<String> = choices.iter().filter(|it| !fits(it)).map(Value::to_string).collect();
    if wrong.len() == choices.len() {
        let first = wrong.first().map(|wrong| shorten(wrong));
        let message = match first {
            None => "`enum` lists no value, so no value fits; leave it out or list some".to_owned(),
            Some(first) if kind == "array" && items_fit.is_some() => format!(
                "`enum` lists {first} and the like, but `type` is array; move `enum` into `items`"
            ),
            Some(first) => format!(
                "`enum` lists {first} and the like, but `type` is {kind}, so no value fits; make the \
                 two agree"
            ),
        };
        found.push((Gravity::Impossible, message));
    } else if !wrong.is_empty() {
        choices.retain(fits);
        let wrong = shorten(&wrong.join(", "));
        found.push((
            Gravity::Idle,
            format!("`enum` lists {wrong}, but `type` is {kind}; what does not fit is left out"),
        ));
    }
}

fn limits(schema: &Map<String, Value>, only: &impl Fn(&str) -> bool, found: &mut Found) {
    let pairs = [
        ("number", "minimum", "maximum", Ordering::Greater),
        ("number", "exclusiveMinimum", "maximum", Ordering::Equal),
        ("number", "minimum", "exclusiveMaximum", Ordering::Equal),
        ("number", "exclusiveMinimum", "exclusiveMaximum", Ordering::Equal),
        ("string", "minLength", "maxLength", Ordering::Greater),
        ("array", "minItems", "maxItems", Ordering::Greater),
        ("object", "minProperties", "maxProperties", Ordering::Greater),
    ];
    for (kind, low, high, from) in pairs {
        let (Some(Value::Number(least)), Some(Value::Number(most))) =
            (schema.get(low), schema.get(high))
        else {
            continue;
        };
        if only(kind) && compare(least, most) >= from {
            found.push((
                Gravity::Impossible,
                format!("`{low}` is {least} and `{high}` is {most}, so no value fits"),
            ));
        }
    }
}

fn check_required(schema: &Map<String, Value>, only: &impl Fn(&str) -> bool, found: &mut Found) {
    let Some(Value::Object(properties)) = schema.get("properties") else { return };
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false))
        && !schema.contains_key("patternProperties")
        && only("object");
    for name in names.filter_map(Value::as_str).filter(|name| !properties.contains_key(*name)) {
        let name = shorten(name);
        found.push(if closed {
            let message = format!(
                "`required` names \"{name}\", which `properties` does not have and \
                 `additionalProperties` forbids; describe it or do not require it"
            );
            (Gravity::Impossible, message)
        } else {
            (
                Gravity::Idle,
                format!("`required` names \"{name}\", which `properties` does not describe"),
            )
        });
    }
}

/// Finds keywords that constrain only values of a type that the schema excludes.
fn idle(schema: &Map<String, Value>, kinds: Option<&[String]>, found: &mut Found) {
    let Some(kinds) = kinds else {
        if schema.contains_key("properties") && !schema.contains_key("$ref") {
            let message = "`properties` has no `type` beside it, so values that are no objects are \
                           taken as well; add \"type\": \"object\" to refuse them";
            found.push((Gravity::Idle, message.to_owned()));
        }
        return;
    };
    for keyword in schema.keys() {
        if let Some(kind) = keywords::about(keyword)
            && !kinds.iter().any(|it| about_same(kind, it))
        {
            let kinds = kinds.join(" or ");
            found.push((
                Gravity::Idle,
                format!("`{keyword}` is about type {kind}, but `type` is {kinds}; it says nothing"),
            ));
        }
    }
}

fn about_same(kind: &str, other: &str) -> bool {
    kind == other || (kind == "number" && other == "integer")
}

/// Returns whether two values may be equal. `1` and `1.0` are equal. The contents of arrays and objects are not
/// compared, so two arrays or two objects may be equal.
fn may_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) => true,
        _ => one == other,
    }
}

fn is_a(value: &Value, kind: &str) -> bool {
    match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
        Value::Number(number) => {
            let whole = number.as_f64().is_none_or(|number| number.fract() == 0.0);
            kind == "number" || (kind == "integer" && whole)
        }
    }
}

fn compare(one: &Number, other: &Number) -> Ordering {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => one.cmp(&other),
        _ => one
            .as_f64()
            .zip(other.as_f64())
            .and_then(|(one, other)| one.partial_cmp(&other))
            .unwrap_or(Ordering::Less),
    }
}
