//! Adds what schemars leaves out of a type's schema: the bounds of numbers, and patterns for texts and durations whose
//! parser accepts less than their format.
//!
//! The bounds are exact. Those of 128-bit integers are powers of two, which a float represents without rounding.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use toolwright_core::schema::SchemaProblem;
use toolwright_core::schema::texts;
use toolwright_core::schema::walk::each_schema;
use toolwright_core::schema::walk::pointers;

/// The limits of a type, each under the keyword that expresses it.
type Limits = Vec<(&'static str, Value)>;

const BOUNDS: [&str; 4] = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"];

/// `2^127` and `2^128`.
const TWO_TO_127: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
const TWO_TO_128: f64 = 2.0 * TWO_TO_127;

/// Adds the limits of the Rust types to a schema that schemars generated.
pub(super) fn tighten(mut schema: Value) -> Value {
    each_schema(&mut schema, &mut |object| {
        add_bounds(object);
        spans(object);
        texts::tighten(object);
    });
    schema
}

pub(super) fn tighten_all(definitions: Map<String, Value>) -> Map<String, Value> {
    definitions.into_iter().map(|(name, schema)| (name, tighten(schema))).collect()
}

/// Refuses `jiff::Zoned`. No schema can describe that type, because its offset has to match its time zone at the given
/// time.
pub(super) fn can_be_said(document: &Value) -> Result<(), SchemaProblem> {
    let mut places = Vec::new();
    pointers(document, String::new(), &mut places);
    for place in places {
        let format = document.pointer(&place).and_then(|it| it.get("format"));
        if format.is_some_and(|it| it == "zoned-date-time") {
            let message = "no schema can say what a `jiff::Zoned` takes; take a `jiff::Timestamp`, and the name of the zone as text";
            return Err(SchemaProblem::new(place, message));
        }
    }
    Ok(())
}

/// Returns whether the limits of a number are exactly those of its Rust type, which the reader enforces anyway.
pub(super) fn is_natural(object: &Map<String, Value>) -> bool {
    let format = object.get("format").and_then(Value::as_str);
    let Some(natural) = format.and_then(natural) else { return false };
    BOUNDS.iter().all(|keyword| {
        let natural = natural.iter().find(|(it, _)| it == keyword).map(|(_, limit)| limit);
        object.get(*keyword) == natural
    })
}

/// Returns the limits of the Rust type for which schemars generates this format.
fn natural(format: &str) -> Option<Limits> {
    let between =
        |minimum: Value, maximum: Value| Some(vec![("minimum", minimum), ("maximum", maximum)]);
    match format {
        "uint8" => between(0.into(), u8::MAX.into()),
        "uint16" => between(0.into(), u16::MAX.into()),
        "uint32" => between(0.into(), u32::MAX.into()),
        "uint64" => between(0.into(), u64::MAX.into()),
        "uint" => between(0.into(), usize::MAX.into()),
        "int8" => between(i8::MIN.into(), i8::MAX.into()),
        "int16" => between(i16::MIN.into(), i16::MAX.into()),
        "int32" => between(i32::MIN.into(), i32::MAX.into()),
        "int64" => between(i64::MIN.into(), i64::MAX.into()),
        "int" => between(isize::MIN.into(), isize::MAX.into()),
        "uint128" => Some(vec![("minimum", 0.into()), ("exclusiveMaximum", TWO_TO_128.into())]),
        "int128" => {
            Some(vec![("minimum", (-TWO_TO_127).into()), ("exclusiveMaximum", TWO_TO_127.into())])
        }
        "float" => between(f64::from(f32::MIN).into(), f64::from(f32::MAX).into()),
        "double" => Some(Vec::new()),
        _ => None,
    }
}

/// Adds the limits of a number's Rust type to a schema, unless the schema has narrower limits.
fn add_bounds(object: &mut Map<String, Value>) {
    let format = object.get("format").and_then(Value::as_str);
    for (keyword, limit) in format.and_then(natural).unwrap_or_default() {
        narrow(object, keyword, limit);
    }
}

/// Adds a bound under its keyword, unless the schema already has a narrower bound.
pub(super) fn narrow(object: &mut Map<String, Value>, keyword: &str, limit: Value) {
    let lower = BOUNDS[..2].contains(&keyword);
    let related = if lower { &BOUNDS[..2] } else { &BOUNDS[2..] };
    let is_closer = |said: &Value| match compare(said, &limit) {
        Some(order) if lower => order.is_ge(),
        Some(order) => order.is_le(),
        // The schema's own bound is invalid. The check of the schema reports that.
        None => true,
    };
    if !related.iter().filter_map(|it| object.get(*it)).any(is_closer) {
        related.iter().for_each(|it| drop(object.remove(*it)));
        object.insert(keyword.to_owned(), limit);
    }
}

/// Compares two numbers. Integers are compared by all their digits.
fn compare(one: &Value, other: &Value) -> Option<Ordering> {
    let integer = |it: &Value| it.as_number().and_then(Number::as_i128);
    match (integer(one), integer(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

/// Adds the ranges of the parts of a duration, because the standard library and chrono refuse parts that overflow.
fn spans(object: &mut Map<String, Value>) {
    const MOST_NANOS: u32 = 999_999_999;
    if let Some(Value::Object(properties)) = object.get_mut("properties")
        && properties.len() == 2
    {
        for (seconds, nanos, most) in [
            ("secs", "nanos", u64::MAX),
            ("secs_since_epoch", "nanos_since_epoch", i64::MAX.unsigned_abs()),
        ] {
            let is = |name: &str, format: &str| {
                properties.get(name).and_then(|it| it.get("format")) == Some(&Value::from(format))
            };
            if is(seconds, "uint64") && is(nanos, "uint32") {
                properties[seconds]["maximum"] = most.into();
                properties[nanos]["maximum"] = MOST_NANOS.into();
            }
        }
    }
    if let Some([seconds, nanos]) =
        object.get_mut("prefixItems").and_then(Value::as_array_mut).map(Vec::as_mut_slice)
        && nanos.get("exclusiveMaximum") == Some(&Value::from(MOST_NANOS + 1))
        && seconds.get("format") == Some(&Value::from("int64"))
    {
        const MOST_SECONDS: i64 = i64::MAX / 1000 - 1;
        seconds["minimum"] = (-MOST_SECONDS).into();
        seconds["maximum"] = MOST_SECONDS.into();
    }
}
