//! Equal values have one text. Numbers are compared by big integers, which know nothing of how they are spelt.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use proptest::prelude::*;
use toolwright::unstable::arguments::{ArgumentsError, canonical};

use super::cases;

/// A value, compared exactly.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    Array(Vec<Value>),
    Object(BTreeMap<String, Value>),
}

/// Digits times a power of ten.
#[derive(Debug, Clone)]
struct Number {
    digits: BigInt,
    power: i32,
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        let least = self.power.min(other.power);
        let whole = |it: &Self| &it.digits * BigInt::from(10).pow(it.power.abs_diff(least));
        whole(self) == whole(other)
    }
}

fn number() -> impl Strategy<Value = Number> {
    let digits = prop_oneof![
        3 => (-30_i64..30).prop_map(BigInt::from),
        1 => any::<i128>().prop_map(BigInt::from),
        1 => (any::<i32>(), 0_u32..9).prop_map(|(it, zeros)| BigInt::from(it) * BigInt::from(10).pow(zeros)),
    ];
    let power = prop_oneof![3 => -3..4_i32, 1 => -60..60_i32];
    (digits, power).prop_map(|(digits, power)| Number { digits, power })
}

fn value() -> impl Strategy<Value = Value> {
    let key = prop_oneof!["[ab]{0,2}", any::<String>()];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number().prop_map(Value::Number),
        prop_oneof!["[a\"\\\\/\n\u{1}é😀]{0,3}", any::<String>()].prop_map(Value::Text),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(key.clone(), inner, 0..4).prop_map(Value::Object),
        ]
    })
}

/// Where the spelling of a value is free, these bytes choose.
struct Choices<'a>(&'a [u8], usize);

impl Choices<'_> {
    fn of(&mut self, count: usize) -> usize {
        self.1 += 1;
        self.0.get(self.1 % self.0.len().max(1)).map_or(0, |byte| usize::from(*byte) % count)
    }
}

fn spelt(value: &Value, choices: &mut Choices<'_>) -> String {
    let space = ["", "", " ", "\n\t", "\r "][choices.of(5)];
    let text = match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => spelt_number(number, choices),
        Value::Text(text) => spelt_text(text, choices),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|it| spelt(it, choices)).collect();
            format!("[{space}{}]", items.join(","))
        }
        Value::Object(entries) => {
            let mut entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| {
                    format!("{}{space}:{}", spelt_text(key, choices), spelt(value, choices))
                })
                .collect();
            let turn = choices.of(entries.len().max(1));
            entries.rotate_left(turn);
            if choices.of(2) == 1 {
                entries.reverse();
            }
            format!("{{{space}{}}}", entries.join(","))
        }
    };
    format!("{space}{text}{space}")
}

fn spelt_text(text: &str, choices: &mut Choices<'_>) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match (choices.of(4), letter) {
            (1, _) => {
                let mut units = [0; 2];
                for unit in letter.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
            (2, '/') => out.push_str("\\/"),
            (_, '"' | '\\') => out.extend(['\\', letter]),
            (_, '\0'..='\u{1f}') => out.push_str(&format!("\\u{:04X}", u32::from(letter))),
            _ => out.push(letter),
        }
    }
    out + "\""
}

fn spelt_number(number: &Number, choices: &mut Choices<'_>) -> String {
    let text = number.digits.to_string();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None if choices.of(4) == 1 && text == "0" => ("-", "0"),
        None => ("", &*text),
    };
    let zeros = choices.of(4);
    let digits = format!("{digits}{}", "0".repeat(if digits == "0" { 0 } else { zeros }));
    let power = number.power
        - i32::try_from(digits.len() - text.trim_start_matches('-').len()).expect("a short text");
    let point = 1 + choices.of(digits.len());
    let (whole, fraction) = digits.split_at(point);
    let power = power + i32::try_from(fraction.len()).expect("a short text");
    let fraction = match (fraction, choices.of(2)) {
        ("", 0) => String::new(),
        (fraction, more) => {
            format!(".{fraction}{}", "0".repeat(more.max(usize::from(fraction.is_empty()))))
        }
    };
    let exponent = match (power, choices.of(4)) {
        (0, 0 | 1) => String::new(),
        (1.., 2) => format!("E+00{power}"),
        (_, 3) if power < 0 => format!("E-0{}", -power),
        _ => format!("e{power}"),
    };
    format!("{sign}{whole}{fraction}{exponent}")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn spelling_order_and_space_do_not_matter(
        value in value(), one in any::<[u8; 32]>(), other in any::<[u8; 32]>(),
    ) {
        let one = spelt(&value, &mut Choices(&one, 0));
        let other = spelt(&value, &mut Choices(&other, 0));
        prop_assert_eq!(canonical(&one).unwrap(), canonical(&other).unwrap(), "{} and {}", one, other);
    }

    #[test]
    fn texts_are_equal_exactly_where_values_are(
        (one, other) in prop_oneof![
            (value(), value()),
            (number().prop_map(Value::Number), number().prop_map(Value::Number)),
        ],
        choices in any::<[u8; 32]>(),
    ) {
        let mut choices = Choices(&choices, 0);
        let texts = [&one, &other].map(|it| canonical(&spelt(it, &mut choices)).unwrap());
        prop_assert_eq!(texts[0] == texts[1], one == other, "{} and {}", texts[0], texts[1]);
    }

    #[test]
    fn the_canonical_text_is_its_own_canonical_text(value in value(), choices in any::<[u8; 32]>()) {
        let once = canonical(&spelt(&value, &mut Choices(&choices, 0))).unwrap();
        prop_assert_eq!(canonical(&once).unwrap(), once);
    }

    #[test]
    fn numbers_with_any_exponent_are_shifted_and_not_rounded(
        digits in "[1-9]", exponent in "-?[1-9][0-9]{0,60}", zeros in 1_usize..40,
    ) {
        // The fraction moves the exponent up by as much as its length takes it down.
        let exponent: BigInt = exponent.parse().unwrap();
        let one = format!("{digits}e{exponent}");
        let other = format!("0.{}{digits}e{}", "0".repeat(zeros - 1), &exponent + zeros);
        let third = format!("{digits}{}e{}", "0".repeat(zeros), &exponent - zeros);
        prop_assert_eq!(canonical(&one).unwrap(), canonical(&other).unwrap());
        prop_assert_eq!(canonical(&one).unwrap(), canonical(&third).unwrap());
        let larger = format!("{digits}e{}", exponent + 1);
        prop_assert_ne!(canonical(&one).unwrap(), canonical(&larger).unwrap());
    }

    #[test]
    fn what_is_taken_is_what_serde_json_takes(text in "[\\[\\]{}:,\"\\\\ab0-9.eE+\\-/#' u]{0,12}") {
        if let Ok(text) = canonical(&text) {
            prop_assert!(serde_json::from_str::<Box<serde_json::value::RawValue>>(&text).is_ok());
        }
        let read = serde_json::from_str::<serde_json::Value>(&text);
        if read.is_ok() {
            let taken = canonical(&text);
            let is_taken = matches!(taken, Ok(_) | Err(ArgumentsError::Duplicate { .. }));
            prop_assert!(is_taken, "{:?}", taken);
        }
    }
}

#[test]
fn equal_numbers_have_one_spelling() {
    let rows = [
        ("0", &["-0", "0.0", "-0.00e7", "0e999999999999999999999999999999999999"][..]),
        ("2", &["2.0", "20e-1", "0.02e2", "2E+0", "200.00e-2"]),
        ("-100", &["-1e2", "-100.0", "-1000e-1"]),
        ("9007199254740993", &["9007199254740993.0", "9.007199254740993e15"]),
        ("0.05", &["5e-2", "0.0500", "0.5e-1"]),
        ("12.5", &["1.25e1", "125e-1", "12.50"]),
        (
            "170141183460469231731687303715884105728",
            &["1.70141183460469231731687303715884105728e38"],
        ),
        ("1e400", &["10e399", "0.1e401"]),
        ("-1e-999999999", &["-0.1e-999999998"]),
        (
            "1e1000000000000000000000000000000000000000",
            &["10e999999999999999999999999999999999999999"],
        ),
        (
            "1e-999999999999999999999999999999999999999",
            &["0.1e-999999999999999999999999999999999999998"],
        ),
        (
            "1e999999999999999999999999999999999999999",
            &["0.1e1000000000000000000000000000000000000000"],
        ),
    ];
    for (expected, spellings) in rows {
        for spelling in spellings.iter().chain([&expected]) {
            assert_eq!(canonical(spelling).unwrap(), *expected, "{spelling}");
        }
    }
}

#[test]
fn neighbours_that_a_float_would_round_together_stay_apart() {
    let texts =
        ["9007199254740992", "9007199254740993", "0.1", "0.1000000000000000055511151231257827"];
    for (at, one) in texts.iter().enumerate() {
        for other in &texts[at + 1..] {
            assert_ne!(canonical(one).unwrap(), canonical(other).unwrap());
        }
    }
}

#[test]
fn keys_are_sorted_by_their_utf_8_bytes() {
    let text = r#"{"😀":1,"\uffee":2,"b":3,"":4,"a":5,"B":6}"#;
    assert_eq!(
        canonical(text).unwrap(),
        "{\"\":4,\"B\":6,\"a\":5,\"b\":3,\"\u{ffee}\":2,\"😀\":1}"
    );
}

#[test]
fn what_is_refused_is_told_by_its_place_and_never_repeated() {
    let told = |text: &str| canonical(text).unwrap_err().to_string();
    let lenient = ArgumentsError::Lenient;
    assert_eq!(canonical("{'hunter2': True}"), Err(lenient.clone()));
    assert_eq!(canonical("[1,] // hunter2"), Err(lenient));
    let place = r#"{"a/b":[{"c":1,"\u0063":1.0}]}"#;
    assert_eq!(told(place), "the key at `/a~1b/0/c` is given twice; give it once");
    assert_eq!(
        told("{\"é\": hunter2}"),
        "the text is not JSON: expected a value at character 7, found something else"
    );
    assert_eq!(
        told("{\"a\": \"hunter2"),
        "the text is not JSON: it ends where a closing quotation mark was expected"
    );
    assert!(matches!(canonical(r#""\ud800""#), Err(ArgumentsError::Syntax { .. })));
    assert!(matches!(canonical(""), Err(ArgumentsError::Incomplete { .. })));
}

#[test]
fn hostile_texts_end_soon_and_stay_short() {
    let deep = "[".repeat(1 << 20);
    assert_eq!(canonical(&deep), Err(ArgumentsError::Depth { most: 127 }));
    let at_the_limit = format!("{}{}", "[".repeat(127), "]".repeat(127));
    assert_eq!(canonical(&at_the_limit).unwrap(), at_the_limit);

    for exponent in ["999999999", "-999999999", "+99999999999999999999", "-99999999999999999999"] {
        assert!(canonical(&format!("1e{exponent}")).unwrap().len() < 30);
    }
    let long = "7".repeat(1 << 20);
    assert_eq!(canonical(&long).unwrap(), long);
    assert_eq!(canonical(&format!("1{}", "0".repeat(1 << 20))).unwrap(), "1e1048576");
    assert_eq!(canonical(&format!("0.{}1", "0".repeat(1 << 20))).unwrap(), "1e-1048577");
    assert_eq!(canonical(&format!("1e{}5", "0".repeat(1 << 20))).unwrap(), "100000");
    assert_eq!(canonical(&format!("1e{long}")).unwrap().len(), long.len() + 2);
    let keys: Vec<String> = (0..100_000).rev().map(|it| format!("\"{it}\":0")).collect();
    assert_eq!(canonical(&format!("{{{}}}", keys.join(","))).unwrap().len(), 988_891);
}
