//! Which types are read without a check of their schema, and which are held to it.

mod known;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::*;
use toolwright_core::input::Input;

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "nothing is made of what is read")]
struct Plain {
    name: String,
    level: Option<Level>,
    inner: Vec<Plain>,
    pair: (u64, i128),
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "nothing is made of what is read")]
enum Level {
    Low,
    High(usize),
    Named { depth: f32 },
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "nothing is made of what is read")]
struct Aliased {
    #[serde(alias = "title")]
    name: String,
}

#[derive(Deserialize, JsonSchema)]
enum Choice {
    #[serde(alias = "Lowest")]
    Low,
}

#[derive(Deserialize, JsonSchema)]
enum Fallback {
    Low,
    #[serde(other)]
    Else,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "nothing is made of what is read")]
struct Flattened {
    #[serde(flatten)]
    plain: BTreeMap<String, u8>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "u8")]
struct Even;

impl TryFrom<u8> for Even {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        if number.is_multiple_of(2) { Ok(Self) } else { Err("an odd number".to_owned()) }
    }
}

/// Whether a call that takes this type is spared the check.
fn is_exact<T: Input>() -> bool {
    let spec = T::PARAM.spec("value", "A value.");
    let mut generator = SchemaSettings::draft2020_12().with(inlined).into_generator();
    let raw = limits::tighten(Value::from((spec.schema)(&mut generator)));
    let definitions = definitions(&mut generator);
    let derived = exact::is_exact(&raw, &definitions);
    let mut schema = normal::normalise(raw);
    if (spec.optional)() {
        normal::strip_null(&mut schema);
    }
    let mut document = joined(schema, &normal::definitions(definitions));
    nulls::settle(&mut document, spec.probe).unwrap();
    probe::agree(&mut document, spec.probe).unwrap() && derived
}

#[test]
fn types_that_say_all_in_their_type_are_read_without_a_check() {
    let exact = [
        is_exact::<String>(),
        is_exact::<bool>(),
        is_exact::<u8>(),
        is_exact::<i32>(),
        is_exact::<u64>(),
        is_exact::<i64>(),
        is_exact::<usize>(),
        is_exact::<u128>(),
        is_exact::<i128>(),
        is_exact::<f32>(),
        is_exact::<f64>(),
        is_exact::<Option<u64>>(),
        is_exact::<Vec<Option<u32>>>(),
        is_exact::<BTreeMap<String, i64>>(),
        is_exact::<[u8; 3]>(),
        is_exact::<Plain>(),
        is_exact::<Option<Plain>>(),
        is_exact::<Level>(),
        is_exact::<Value>(),
    ];
    assert_eq!(exact, [true; 19]);
}

#[test]
fn types_that_take_more_than_their_schema_says_are_checked() {
    let exact = [
        is_exact::<Aliased>(),
        is_exact::<Vec<Choice>>(),
        is_exact::<Fallback>(),
        is_exact::<Flattened>(),
        is_exact::<BTreeSet<u8>>(),
        is_exact::<BTreeMap<u8, u8>>(),
        is_exact::<BTreeMap<bool, u8>>(),
        is_exact::<char>(),
        is_exact::<Duration>(),
        is_exact::<std::net::IpAddr>(),
        is_exact::<Even>(),
    ];
    assert_eq!(exact, [false; 11]);
}

#[test]
fn a_limit_of_an_attribute_counts_only_where_it_is_closer_than_the_type() {
    let bounds = |schema: Value| {
        let Value::Object(mut object) = limits::tighten(schema) else { return Map::new() };
        object.retain(|keyword, _| keyword.ends_with("imum"));
        object
    };
    let closer =
        json!({"type": "integer", "format": "uint64", "minimum": 3, "exclusiveMaximum": 9});
    assert_eq!(Value::from(bounds(closer)), json!({"minimum": 3, "exclusiveMaximum": 9}));
    let wider = json!({"type": "integer", "format": "int8", "minimum": -500, "maximum": 500});
    assert_eq!(Value::from(bounds(wider)), json!({"minimum": -128, "maximum": 127}));
}
