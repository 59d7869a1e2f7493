//! The limits that an author writes stand in the schema as written, at the ends of the types too, unless those of the
//! type are closer.

use std::collections::BTreeMap;

use serde_json::json;
use toolwright::{Call, Registry, tool};

use crate::support::{kind, strict};

/// Takes numbers within limits.
#[tool(effect = read)]
async fn take_within_limits(
    /// As far as the signed type goes.
    #[arg(maximum = 9223372036854775807)]
    half: u64,
    /// As far as the type goes.
    #[arg(minimum = 0, maximum = 18446744073709551615)]
    all: u64,
    /// As far as the type goes.
    #[arg(minimum = -9223372036854775808, maximum = 9223372036854775807)]
    signed: i64,
    /// As far as the type goes.
    #[arg(minimum = -128, maximum = 127)]
    byte: i8,
    /// Less than the type.
    #[arg(minimum = 1, maximum = 2147483647)]
    some: i32,
) {
    let _ = (half, all, signed, byte, some);
}

#[test]
fn limits_stand_as_they_are_written() {
    let registry = Registry::of([TAKE_WITHIN_LIMITS]).unwrap();
    let properties = &registry.get("take_within_limits").unwrap().input_schema["properties"];
    for (name, minimum, maximum) in [
        ("half", json!(0), json!(i64::MAX)),
        ("all", json!(0), json!(u64::MAX)),
        ("signed", json!(i64::MIN), json!(i64::MAX)),
        ("byte", json!(-128), json!(127)),
        ("some", json!(1), json!(i32::MAX)),
    ] {
        let schema = &properties[name];
        assert_eq!((&schema["minimum"], &schema["maximum"]), (&minimum, &maximum), "{name}");
    }
}

/// Takes numbers within limits that reach to the ends of their types, and beyond where a type has no exact end.
#[tool(effect = read)]
async fn take_within_wide_limits(
    /// One less than the type goes.
    #[arg(maximum = 18446744073709551614)]
    almost: u64,
    /// As much as a byte.
    #[arg(maximum = 255)]
    byte: Option<u8>,
    /// More than the type.
    #[arg(minimum = -1e300, maximum = 0.5)]
    single: f32,
    /// Just as wide, in other words.
    #[arg(maximum = 170141183460469231731687303715884105727)]
    widest: i128,
) {
    let _ = (almost, byte, single, widest);
}

#[tokio::test]
async fn a_limit_at_the_end_of_the_type_or_beyond_leaves_the_limit_of_the_type() {
    let executor = strict([TAKE_WITHIN_WIDE_LIMITS]);
    let definition = executor.registry().get("take_within_wide_limits").unwrap();
    let properties = &definition.input_schema["properties"];
    assert_eq!(properties["almost"]["minimum"], 0);
    assert_eq!(properties["almost"]["maximum"], json!(u64::MAX - 1));
    assert_eq!(
        (&properties["byte"]["minimum"], &properties["byte"]["maximum"]),
        (&json!(0), &json!(255))
    );
    assert_eq!(properties["single"]["minimum"], json!(f32::MIN));
    assert_eq!(properties["single"]["maximum"], 0.5);
    assert_eq!(properties["widest"]["maximum"], json!(null));
    assert_eq!(properties["widest"]["exclusiveMaximum"], json!(i128::MAX as f64));
    for (almost, byte, end) in
        [(u64::MAX - 1, 255, "ok"), (u64::MAX, 255, "invalid_input"), (1, 256, "invalid_input")]
    {
        let input = json!({"almost": almost, "byte": byte, "single": 0, "widest": 0});
        assert_eq!(jsonschema::is_valid(&definition.input_schema, &input), end == "ok", "{input}");
        let answer = executor.call(&Call::new("take_within_wide_limits", input.to_string())).await;
        assert_eq!(kind(&answer), end, "{input}");
    }
}

/// Takes lists that may be `null`, or not be there at all.
#[tool(effect = read)]
async fn take_counted_or_null(
    /// Names.
    #[arg(length = 1..=2)]
    names: Option<Option<Vec<String>>>,
    /// Numbers by name.
    #[arg(length = ..=1)]
    numbers: Option<Option<BTreeMap<String, u8>>>,
    /// A text.
    #[arg(length = 3..)]
    text: Option<Option<String>>,
) {
    let _ = (names, numbers, text);
}

#[tokio::test]
async fn a_length_is_that_of_the_type_which_is_not_null() {
    let executor = strict([TAKE_COUNTED_OR_NULL]);
    let definition = executor.registry().get("take_counted_or_null").unwrap();
    let schema = &definition.input_schema;
    for (input, end) in [
        (json!({"names": null, "numbers": null, "text": null}), "ok"),
        (json!({"names": ["a", "b"], "numbers": {"a": 1}, "text": "abc"}), "ok"),
        (json!({"names": ["a", "b", "c"]}), "invalid_input"),
        (json!({"names": []}), "invalid_input"),
        (json!({"numbers": {"a": 1, "b": 2}}), "invalid_input"),
        (json!({"text": "ab"}), "invalid_input"),
    ] {
        assert_eq!(jsonschema::is_valid(schema, &input), end == "ok", "{input}");
        let answer = executor.call(&Call::new("take_counted_or_null", input.to_string())).await;
        assert_eq!(kind(&answer), end, "{input}");
    }
}
