//! Structs, maps, options, enums and tuples.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::Value;
use toolwright::__private0::{Reader, Rule};

use super::{read, refused};

#[derive(Debug, Deserialize, PartialEq)]
struct Point {
    x: i32,
    y: Option<i32>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Line {
    from: Point,
    to: Vec<Point>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Wrapper(Option<u8>);

#[derive(Debug, Deserialize, PartialEq)]
struct Pair(u8, u8);

#[derive(Debug, Deserialize, PartialEq)]
struct Marker;

#[derive(Debug, Deserialize, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
enum Speed {
    Fast,
    Slow,
    Exact(Option<u8>),
    Between(u8, u8),
    Named { name: Option<String> },
}

#[test]
fn a_struct_is_an_object_only() {
    assert_eq!(read::<Point>(r#"{"x":1,"y":2}"#).unwrap(), Point { x: 1, y: Some(2) });
    assert_eq!(read::<Point>(r#" { "y" : 2 , "x" : 1 } "#).unwrap(), Point { x: 1, y: Some(2) });
    refused::<Point>("[1,2]", Rule::Type, "input: found [1,2], expected an object");
    refused::<Point>("null", Rule::Type, "input: found null, expected an object");
}

#[test]
fn an_unknown_key_is_refused_even_where_the_type_ignores_it() {
    let message = "/form: unknown key, expected one of \"from\", \"to\"; did you mean \"from\"?";
    refused::<Line>(r#"{"form":1}"#, Rule::UnknownKey, message);
    let message = "/to/1/why: unknown key, expected one of \"x\", \"y\"";
    let text = r#"{"from":{"x":1},"to":[{"x":1},{"x":2,"why":[]}]}"#;
    refused::<Line>(text, Rule::UnknownKey, message);
}

#[test]
fn a_key_given_twice_is_refused_in_structs_maps_and_values() {
    let message = "/x: duplicate key, expected each key once";
    for text in [r#"{"x":1,"x":1}"#, r#"{"x":1,"y":2,"x":1}"#, r#"{"x":1,"\u0078":1}"#] {
        refused::<Point>(text, Rule::DuplicateKey, message);
        refused::<HashMap<String, u8>>(text, Rule::DuplicateKey, message);
        refused::<Value>(text, Rule::DuplicateKey, message);
    }
    let mut text = String::from("{");
    for index in 0..30 {
        text.push_str(&format!("\"key{index}\":{index},"));
    }
    let once = format!("{}}}", text.trim_end_matches(','));
    assert_eq!(read::<HashMap<String, u8>>(&once).unwrap().len(), 30);
    for index in [0, 7, 8, 29] {
        let twice = format!("{text}\"key{index}\":1}}");
        let message = format!("/key{index}: duplicate key, expected each key once");
        refused::<Value>(&twice, Rule::DuplicateKey, &message);
    }
    let text = r#"{"\t":1,"a":2,"b":3,"a":4}"#;
    refused::<Value>(text, Rule::DuplicateKey, "/a: duplicate key, expected each key once");
}

#[test]
fn a_missing_key_is_at_its_own_place() {
    refused::<Line>(r#"{"from":{},"to":[]}"#, Rule::MissingKey, "/from/x: missing");
    refused::<Point>("{}", Rule::MissingKey, "/x: missing");
}

#[test]
fn pointers_escape_tildes_and_slashes() {
    let message = "/a~1b/~0: found true, expected an integer";
    let text = r#"{"a/b":{"~":true}}"#;
    refused::<HashMap<String, HashMap<String, u8>>>(text, Rule::Type, message);
}

#[test]
fn null_in_field_position_is_refused() {
    let message = "/y: found null, expected an integer; leave the key out instead";
    refused::<Point>(r#"{"x":1,"y":null}"#, Rule::Null, message);
    let message = "input: found null, expected an integer; leave the key out instead";
    refused::<Option<u8>>("null", Rule::Null, message);
    refused::<Option<Option<u8>>>("null", Rule::Null, message);
    assert_eq!(read::<Point>(r#"{"x":1}"#).unwrap(), Point { x: 1, y: None });
}

#[test]
fn null_in_element_position_is_none() {
    assert_eq!(read::<Vec<Option<u8>>>("[1,null]").unwrap(), [Some(1), None]);
    assert_eq!(read::<Vec<Wrapper>>("[1,null]").unwrap(), [Wrapper(Some(1)), Wrapper(None)]);
    assert_eq!(read::<(Option<u8>, u8)>("[null,2]").unwrap(), (None, 2));
    let map = read::<BTreeMap<String, Option<u8>>>(r#"{"a":null,"b":1}"#).unwrap();
    assert_eq!(map.into_values().collect::<Vec<_>>(), [None, Some(1)]);
    // The key of such a type cannot be left out, so this is the only way to say nothing.
    assert_eq!(read::<Wrapper>("null").unwrap(), Wrapper(None));
    assert_eq!(read::<Option<Option<u8>>>("7").unwrap(), Some(Some(7)));
    assert_eq!(read::<Option<Vec<Option<u8>>>>("[null]").unwrap(), Some(vec![None]));
}

#[test]
fn the_position_is_set_back_after_each_value() {
    let mut reader = Reader::new("[null] 1 null");
    assert_eq!(Vec::<Option<u8>>::deserialize(&mut reader).unwrap(), [None]);
    assert_eq!(Option::<u8>::deserialize(&mut reader).unwrap(), Some(1));
    let fault = Option::<u8>::deserialize(&mut reader).unwrap_err();
    assert_eq!(fault.problem().rule, Rule::Null);
    refused::<Vec<Point>>(
        r#"[{"x":1,"y":null}]"#,
        Rule::Null,
        "/0/y: found null, expected an integer; leave the key out instead",
    );
}

#[test]
fn a_null_that_the_contents_take_is_theirs() {
    assert_eq!(read::<Option<Value>>("null").unwrap(), Some(Value::Null));
    assert_eq!(read::<Option<()>>("null").unwrap(), Some(()));
}

#[test]
fn a_unit_variant_is_a_string_and_the_others_objects_with_one_key() {
    assert_eq!(read::<Speed>(r#""fast""#).unwrap(), Speed::Fast);
    assert_eq!(read::<Speed>(r#""f\u0061st""#).unwrap(), Speed::Fast);
    assert_eq!(read::<Speed>(r#" { "exact" : 3 } "#).unwrap(), Speed::Exact(Some(3)));
    assert_eq!(read::<Speed>(r#"{"exact":null}"#).unwrap(), Speed::Exact(None));
    assert_eq!(read::<Speed>(r#"{"between":[1,2]}"#).unwrap(), Speed::Between(1, 2));
    assert_eq!(read::<Speed>(r#"{"named":{}}"#).unwrap(), Speed::Named { name: None });
    let message = "input: found {\"fast\":null}, expected the string \"fast\"";
    refused::<Speed>(r#"{"fast":null}"#, Rule::Type, message);
    let message = "input: found \"exact\", expected an object {\"exact\": …}";
    refused::<Speed>(r#""exact""#, Rule::Type, message);
    let message = "input: found {}, expected an object with exactly one key";
    refused::<Speed>("{}", Rule::Type, message);
    let text = r#"{"exact":1,"fast":null}"#;
    let message = format!("input: found {text}, expected an object with exactly one key");
    refused::<Speed>(text, Rule::Type, &message);
    let choices = r#"one of "fast", "slow", "exact", "between", "named""#;
    let message = format!("input: found \"fsat\", expected {choices}; did you mean \"fast\"?");
    refused::<Speed>(r#""fsat""#, Rule::Choice, &message);
    refused::<Speed>("3", Rule::Type, &format!("input: found 3, expected {choices}"));
    let message = "/between: found [1], expected an array of 2 items";
    refused::<Speed>(r#"{"between":[1]}"#, Rule::Length, message);
    let message = "/named/name: found null, expected a string; leave the key out instead";
    refused::<Speed>(r#"{"named":{"name":null}}"#, Rule::Null, message);
    let message = "/named: found [null], expected an object";
    refused::<Speed>(r#"{"named":[null]}"#, Rule::Type, message);
    assert_eq!(read::<HashMap<Speed, u8>>(r#"{"slow":1}"#).unwrap()[&Speed::Slow], 1);
    assert!(read::<HashMap<Speed, u8>>(r#"{"exact":1}"#).is_err());
}

#[test]
fn tuples_have_their_exact_length() {
    assert_eq!(read::<(u8, String)>(r#"[1,"a"]"#).unwrap(), (1, "a".to_owned()));
    assert_eq!(read::<Pair>("[1,2]").unwrap(), Pair(1, 2));
    assert_eq!(read::<[u8; 2]>("[1,2]").unwrap(), [1, 2]);
    for text in ["[]", "[1]", "[1,2,3]", "[1,2,3,4]"] {
        let message = format!("input: found {text}, expected an array of 2 items");
        refused::<Pair>(text, Rule::Length, &message);
        refused::<(u8, u8)>(text, Rule::Length, &message);
        refused::<[u8; 2]>(text, Rule::Length, &message);
    }
    refused::<Pair>("{}", Rule::Type, "input: found {}, expected an array of 2 items");
}

#[test]
fn units_are_null() {
    read::<()>("null").unwrap();
    assert_eq!(read::<Marker>("null").unwrap(), Marker);
    refused::<()>("[]", Rule::Type, "input: found [], expected null");
    refused::<Marker>("{}", Rule::Type, "input: found {}, expected null");
}

#[test]
fn a_struct_of_more_than_sixty_four_fields_refuses_repetition_too() {
    macro_rules! wide {
        ($($field:ident)*) => {
            #[derive(Debug, Deserialize)]
            struct Wide {
                $(#[expect(dead_code, reason = "only read")] $field: Option<u8>,)*
            }
        };
    }
    wide! {
        a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 c0 c1 c2 c3 c4 c5 c6 c7 c8 c9
        d0 d1 d2 d3 d4 d5 d6 d7 d8 d9 e0 e1 e2 e3 e4 e5 e6 e7 e8 e9 f0 f1 f2 f3 f4 f5 f6 f7 f8 f9
        g0 g1 g2 g3 g4 g5 g6 g7 g8 g9
    }
    read::<Wide>(r#"{"g9":1,"a0":1,"g3":1,"g4":1}"#).unwrap();
    for key in ["a0", "g3", "g4", "g9"] {
        let message = format!("/{key}: duplicate key, expected each key once");
        let text = format!("{{\"{key}\":1,\"c0\":2,\"{key}\":1}}");
        refused::<Wide>(&text, Rule::DuplicateKey, &message);
    }
}

#[test]
fn types_that_buffer_their_input_are_told_about_at_their_holder() {
    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(untagged)]
    enum Either {
        Number(u8),
        Text(String),
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(tag = "type")]
    enum Tagged {
        Number { value: u8 },
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Holder {
        #[serde(default)]
        either: Vec<Either>,
        tagged: Option<Tagged>,
        #[serde(alias = "other")]
        name: Option<String>,
    }

    let text = r#"{"either":[1,"a"],"tagged":{"type":"Number","value":3},"other":"x"}"#;
    let holder = Holder {
        either: vec![Either::Number(1), Either::Text("a".to_owned())],
        tagged: Some(Tagged::Number { value: 3 }),
        name: Some("x".to_owned()),
    };
    assert_eq!(read::<Holder>(text).unwrap(), holder);
    let message = "/either/1: found [true], matches none of the forms taken here";
    refused::<Holder>(r#"{"either":[1,[true]]}"#, Rule::Other, message);
    let message = "/tagged/type: found \"Nmber\", expected \"Number\"; did you mean \"Number\"?";
    refused::<Holder>(r#"{"tagged":{"type":"Nmber"}}"#, Rule::Choice, message);
    let message = "/tagged: found 300, expected an integer from 0 to 255";
    refused::<Holder>(r#"{"tagged":{"type":"Number","value":300}}"#, Rule::Range, message);
    let message = "/name: duplicate key, expected each key once";
    refused::<Holder>(r#"{"name":"a","other":"b"}"#, Rule::DuplicateKey, message);
}
