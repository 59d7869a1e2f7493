//! Ways to make a value a little wrong, and odd values and keys to do it with.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};

/// One way to make a value a little wrong, at some place in it.
#[derive(Debug, Clone)]
pub enum Change {
    Nothing,
    Replace(Value),
    Drop(Index),
    Add(&'static str, Value),
    Rename(Index, &'static str),
    Repeat(Index),
    /// Every name that has an alias by its alias.
    Alias,
    /// An integer in the spelling of a float.
    Float,
}

pub fn odd() -> impl Strategy<Value = Value> {
    let numbers = [
        json!(0),
        json!(-1),
        json!(1),
        json!(2.0),
        json!(-0.0),
        json!(2.5),
        json!(127),
        json!(128),
        json!(-129),
        json!(255.0),
        json!(256),
        json!(65_536),
        json!(-32_769),
        json!(i32::MAX),
        json!(-2_147_483_649_i64),
        json!(u32::MAX),
        json!(4_294_967_296_u64),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(9_223_372_036_854_775_808_u64),
        json!(u64::MAX),
        json!(1e30),
        json!(-1e30),
        json!(3.5e38),
        json!(1e300),
        json!(1e-300),
        json!(3.402_823_466_385_288_6e38),
        json!(3.402_823_5e38),
        json!(1_000_000_000),
    ];
    let texts = [
        "",
        "a",
        "é",
        "ab",
        "Known",
        "Quick",
        "alias",
        "Fast",
        "fast",
        "1",
        "01",
        "+1",
        "-0",
        "true",
        "2020-01-02",
        "2020-02-30",
        "2020-01-02T03:04:05Z",
        "2020-01-02t03:04:05z",
        "2020-01-02 03:04:05Z",
        "2020-01-02T03:04:05.123456789Z",
        "2020-01-02T03:04:05.1234567891Z",
        "2016-12-31T23:59:60Z",
        "2020-01-02T03:04:05+09:30",
        "2020-01-02T03:04:05+0930",
        "2020-01-02T03:04Z",
        "9999-12-31T23:59:59-23:59",
        "0000-01-01T00:00:00Z",
        "2020-01-02T24:00:00Z",
        "-2020-01-02",
        "+12020-01-02",
        "2020-01-02T03:04:05",
        "2021-02-29T03:04:05",
        "03:04:05",
        "03:04:05.5",
        "03:04",
        "23:59:60",
        "24:00:00",
        "PT1H",
        "P1D",
        "P1Y",
        "PT",
        "1h",
        "-PT1S",
        "6a2f41a3-c54c-fce8-32d2-0324e1c32e22",
        "6a2f41a3c54cfce832d20324e1c32e22",
        "{6a2f41a3-c54c-fce8-32d2-0324e1c32e22}",
        "urn:uuid:6a2f41a3-c54c-fce8-32d2-0324e1c32e22",
        "6A2F41A3-C54C-FCE8-32D2-0324E1C32E22",
        "192.0.2.1",
        "192.0.2.01",
        "192.0.2",
        "::1",
        "::ffff:192.0.2.1",
        "fe80::1%eth0",
        "https://example.org/",
        "https://example.org/a b",
        "mailto:a@b.c",
        "urn:a:b",
        "/a",
        "a:",
        "http://",
        "https://ex\u{e4}mple.org/",
        "Mon",
        "Monday",
    ];
    prop_oneof![
        prop::sample::select(numbers.to_vec()),
        prop::sample::select(texts.to_vec()).prop_map(Value::from),
        prop::sample::select(vec![
            json!(null),
            json!(true),
            json!([]),
            json!({}),
            json!([1]),
            json!([1, 1]),
            json!([1, 1.0]),
            json!({"Fast": null}),
            json!([null]),
            json!({"a": 1}),
            json!({"1": true}),
        ]),
    ]
}

pub fn key() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "unknown",
        "old_name",
        "alias",
        "name",
        "Quick",
        "skipped",
        "silent",
        "kind",
        "t",
        "c",
        "limit",
        "twice",
        "01",
        "+1",
        "1",
        "-1",
        "-0",
        "0",
        "256",
        "255",
        "-9223372036854775809",
        "9223372036854775807",
        "\u{661}",
        "1.0",
        "",
        "fast",
        "here",
        "Here",
        "x",
        "xy",
        "true",
        "yes",
        "6a2f41a3-c54c-fce8-32d2-0324e1c32e22",
        "6a2f41a3c54cfce832d20324e1c32e22",
        "secs",
        "Ok",
    ])
}

pub fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        1 => Just(Change::Nothing),
        3 => odd().prop_map(Change::Replace),
        1 => any::<Index>().prop_map(Change::Drop),
        2 => (key(), odd()).prop_map(|(key, value)| Change::Add(key, value)),
        1 => (any::<Index>(), key()).prop_map(|(at, key)| Change::Rename(at, key)),
        1 => any::<Index>().prop_map(Change::Repeat),
        1 => Just(Change::Alias),
        2 => Just(Change::Float),
    ]
}

/// The pointers of a value's parts.
fn places(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(it, part)| places(part, format!("{at}/{it}"), found));
        }
        Value::Object(object) => object.iter().for_each(|(key, part)| {
            let key = key.replace('~', "~0").replace('/', "~1");
            places(part, format!("{at}/{key}"), found);
        }),
        _ => {}
    }
    found.push(at);
}

pub fn apply(whole: &mut Value, at: Index, change: Change) {
    if let Change::Alias = change {
        return aliased(whole);
    }
    let mut found = Vec::new();
    places(whole, String::new(), &mut found);
    let Some(part) = whole.pointer_mut(at.get::<String>(&found)) else { return };
    let key_at = |object: &Map<String, Value>, at: Index| {
        (!object.is_empty()).then(|| at.get(&object.keys().collect::<Vec<_>>()).to_string())
    };
    match (change, part) {
        (Change::Replace(value), part) => *part = value,
        (Change::Drop(at), Value::Object(object)) => {
            key_at(object, at).map(|key| object.remove(&key));
        }
        (Change::Drop(at), Value::Array(items)) if !items.is_empty() => {
            items.remove(at.index(items.len()));
        }
        (Change::Add(key, value), Value::Object(object)) => {
            let beside = object.values().next().cloned();
            object.insert(key.to_owned(), beside.filter(|_| key.len() % 2 == 0).unwrap_or(value));
        }
        (Change::Add(_, value), Value::Array(items)) => items.push(value),
        (Change::Rename(at, new), Value::Object(object)) => {
            let old = key_at(object, at).and_then(|key| object.remove(&key));
            old.map(|value| object.insert(new.to_owned(), value));
        }
        (Change::Repeat(at), Value::Array(items)) if !items.is_empty() => {
            items.push(items[at.index(items.len())].clone());
        }
        (Change::Float, part) => {
            let float = part.as_f64().filter(|it| it.abs() < 9e15);
            *part = float.map_or_else(|| part.take(), |it| json!(it));
        }
        _ => {}
    }
}

const ALIASES: &[(&str, &str)] = &[("name", "old_name"), ("Fast", "Quick"), ("By", "alias")];

fn aliased(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some((_, alias)) = ALIASES.iter().find(|(name, _)| name == text) {
                *text = (*alias).to_owned();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(aliased),
        Value::Object(object) => {
            object.values_mut().for_each(aliased);
            for (name, alias) in ALIASES {
                if let Some(value) = object.remove(*name) {
                    object.insert((*alias).to_owned(), value);
                }
            }
        }
        _ => {}
    }
}
