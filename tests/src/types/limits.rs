//! The limits that an author writes stand in the schema as written, at the ends of the types too.

use serde_json::json;
use toolwright::{Registry, tool};

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
