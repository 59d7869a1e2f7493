//! Integers from their digits, floats rounded once.

use serde_json::Value;
use toolwright::__private0::{Reader, Rule};

use super::{read, refused};

#[test]
fn integers_are_decided_from_their_digits() {
    for text in ["2", "2.0", "2e0", "20e-1", "0.2E+1", "2.000", "0.0000002e7", "2000e-3"] {
        assert_eq!(read::<u8>(text).unwrap(), 2, "{text}");
        assert_eq!(read::<i128>(text).unwrap(), 2, "{text}");
    }
    for text in ["0", "-0", "-0.0", "0e999999999999999999999", "-0e-99999999999999999999"] {
        assert_eq!(read::<u8>(text).unwrap(), 0, "{text}");
        assert_eq!(read::<i64>(text).unwrap(), 0, "{text}");
    }
    assert_eq!(read::<u64>("9007199254740993.0").unwrap(), 9_007_199_254_740_993);
    assert_eq!(read::<i64>("-9223372036854775808").unwrap(), i64::MIN);
    assert_eq!(read::<i64>("-9.223372036854775808e18").unwrap(), i64::MIN);
    assert_eq!(read::<u64>("18446744073709551615").unwrap(), u64::MAX);
    assert_eq!(read::<u128>(&u128::MAX.to_string()).unwrap(), u128::MAX);
    assert_eq!(read::<i128>(&i128::MIN.to_string()).unwrap(), i128::MIN);
    assert_eq!(read::<u64>("10000000000000000000").unwrap(), 10_000_000_000_000_000_000);
}

#[test]
fn a_fraction_is_no_integer() {
    for text in ["17.32", "1e-1", "-0.5", "1e-99999999999999999999", "0.00001e4"] {
        let message = format!("input: found {text}, expected an integer");
        refused::<i64>(text, Rule::Type, &message);
    }
}

#[test]
fn an_integer_out_of_bounds_names_them() {
    refused::<u8>("256", Rule::Range, "input: found 256, expected an integer from 0 to 255");
    refused::<u8>("-1", Rule::Range, "input: found -1, expected an integer from 0 to 255");
    refused::<i8>("-129", Rule::Range, "input: found -129, expected an integer from -128 to 127");
    for text in ["18446744073709551616", "1e400", "1e99999999999999999999"] {
        let message =
            format!("input: found {text}, expected an integer from 0 to 18446744073709551615");
        refused::<u64>(text, Rule::Range, &message);
    }
    assert!(read::<u128>("340282366920938463463374607431768211456").is_err());
    assert!(read::<i128>("170141183460469231731687303715884105728").is_err());
    assert!(read::<i128>("-170141183460469231731687303715884105729").is_err());
    let zero = "input: found 0, expected an integer other than 0";
    let fault = read::<std::num::NonZeroU8>("0").unwrap_err();
    assert_eq!(fault.to_string(), zero);
}

#[test]
fn floats_are_rounded_once_and_finite() {
    assert_eq!(read::<f64>("0.1").unwrap(), 0.1);
    assert_eq!(read::<f64>("3").unwrap(), 3.0);
    assert_eq!(read::<f64>("9007199254740993").unwrap(), 9_007_199_254_740_992.0);
    assert!(read::<f64>("-0").unwrap().is_sign_negative());
    assert_eq!(read::<f32>("16777217").unwrap(), 16_777_216.0);
    assert_eq!(read::<f64>("1e-999").unwrap(), 0.0);
    assert_eq!(read::<f64>("1e400").unwrap_err().problem().rule, Rule::Range);
    assert_eq!(read::<f32>("1e39").unwrap_err().problem().rule, Rule::Range);
    refused::<f64>("\"1\"", Rule::Type, "input: found \"1\", expected a number");
}

#[test]
fn a_value_keeps_integers_of_64_bits_and_takes_longer_ones_as_serde_json_does() {
    assert_eq!(read::<Value>("18446744073709551615").unwrap(), Value::from(u64::MAX));
    assert_eq!(read::<Value>("-9223372036854775808").unwrap(), Value::from(i64::MIN));
    assert_eq!(read::<Value>("-0").unwrap(), Value::from(0));
    assert_eq!(read::<Value>("1.0").unwrap(), Value::from(1.0));
    for text in ["18446744073709551616", "-9223372036854775809", &"9".repeat(60)] {
        assert_eq!(read::<Value>(text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
    }
    assert_eq!(read::<Value>(&"9".repeat(400)).unwrap_err().problem().rule, Rule::Range);
    assert_eq!(read::<Value>("1e400").unwrap_err().problem().rule, Rule::Range);
}

#[test]
fn numbers_keep_to_the_grammar() {
    let wrong = [
        "01",
        "-",
        "-01",
        "+1",
        ".5",
        "1.",
        "1.e1",
        "1e",
        "1e+",
        "--1",
        "0x1",
        "1_0",
        "00",
        "NaN",
        "Infinity",
        "-Infinity",
        "- 1",
    ];
    for text in wrong {
        assert_eq!(read::<i64>(text).unwrap_err().problem().rule, Rule::Syntax, "{text}");
        assert_eq!(read::<f64>(text).unwrap_err().problem().rule, Rule::Syntax, "{text}");
        assert_eq!(read::<Value>(text).unwrap_err().problem().rule, Rule::Syntax, "{text}");
        assert!(Reader::new(text).skip_value().is_err() || text.starts_with(['0', '1']), "{text}");
    }
}
