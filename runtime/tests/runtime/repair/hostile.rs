//! Texts that are made to cost: each is read or refused, with work that grows with the text and no faster. Work is counted by the
//! bytes that it allocates, because a clock also counts what else the machine does.
//!
//! What a fuzzer would do is done by property, because fuzzers of Rust need a compiler that is not stable: texts are
//! put together of what the parser looks at, and each must be read or refused soon, in few words, and as the laws
//! say. The number of texts is `PROPTEST_CASES`; `just fuzz` makes 200,000 of them, in release:
//!
//! ```text
//! PROPTEST_CASES=200000 cargo test --release -p toolwright-runtime --test runtime -- repair::hostile::any_text repair::laws
//! ```

use std::sync::OnceLock;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use toolwright::Repair;
use toolwright::repair::replay;
use toolwright::unstable::repair::{Refusal, Repairer, TruncatedInput};

use crate::allocated::allocated;

/// Bytes of the smaller text.
const SIZE: usize = 8_000;
/// How many times as long the larger text is.
const TIMES: usize = 16;
/// How many times as much work it may be; a square would be 256.
const MOST: f64 = 64.0;

/// The bytes that no text of [`pieces`] takes.
const MOST_BYTES: usize = 1 << 28;

fn schema() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["path"],
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": "integer"},
            "ratio": {"type": "number"},
            "numbers": {"type": "array", "items": {"type": "integer"}},
            "words": {"type": "array", "items": {"enum": ["by_name", "by_date"]}},
            "either": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}},
            "lists": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
            "pattern": {"type": "string", "pattern": "^(a+)+$"},
            "open": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}},
            "tree": {"$ref": "#/$defs/tree"},
        },
        "$defs": {"tree": {"anyOf": [
            {"type": "integer"},
            {"type": "array", "items": {"$ref": "#/$defs/tree"}},
            {"type": "object", "properties": {"tree": {"$ref": "#/$defs/tree"}}, "required": ["tree"]},
            {"type": "object", "properties": {"Tree": {"$ref": "#/$defs/tree"}}, "required": ["Tree"]},
        ]}},
    })
}

fn repeated(start: &str, piece: &str, end: &str, size: usize) -> String {
    format!("{start}{}{end}", piece.repeat(size / piece.len()))
}

fn keys(size: usize, key: impl Fn(usize) -> String) -> String {
    let entries: Vec<String> =
        (0..size / 12).map(|number| format!("\"{}\":1", key(number))).collect();
    format!("{{{}}}", entries.join(","))
}

/// An object of so many bytes that has every key twice.
fn twice(size: usize) -> String {
    keys(size, |number| format!("k{:05}", number / 2))
}

/// A value below a key of half the bytes.
fn below_a_long_key(size: usize, value: &str) -> String {
    format!("{{\"{}\":{value}}}", "a".repeat(size / 2))
}

/// An item to mend for every four bytes, below a key that the schema takes.
fn changes_below_a_long_key(size: usize) -> String {
    let items = format!("[1{}]", ",\"1\"".repeat(size / 8));
    format!("{{\"path\":\"a\",\"open\":{}}}", below_a_long_key(size, &items))
}

/// A name, and a text of so many bytes.
type Text = (&'static str, Box<dyn Fn(usize) -> String>);

/// Texts by the number of their bytes.
fn texts() -> Vec<Text> {
    fn of(name: &'static str, start: &'static str, piece: &'static str, end: &'static str) -> Text {
        (name, Box::new(move |size| repeated(start, piece, end, size)))
    }
    let mut texts = vec![
        of("brackets", "", "[", ""),
        of("objects", "", "{\"a\":", ""),
        of("known objects", "{\"tree\":", "{\"tree\":", ""),
        of("tuples", "", "(", ""),
        of("backslashes", "{\"path\":\"", "\\\\", "\"}"),
        of("an odd number of backslashes", "{\"path\":\"", "\\\\", "\\\"}"),
        of("quotes", "", "\"", ""),
        of("single quotes", "", "'", ""),
        of("typographic quotes", "{", "“", ""),
        of("escaped quotes", "{\"numbers\":\"", "\\\"", "\"}"),
        of("brackets in a text", "{\"numbers\":\"", "[", "\"}"),
        of("texts in a text", "{\"lists\":\"", "[\\\"[\\\",", "\"}"),
        of("fences", "", "``` ", ""),
        of("tags", "", "<tool_call>", ""),
        of("closed tags", "", "<tool_call></tool_call>", ""),
        of("empty objects", "", "{}", ""),
        of("objects glued", "", "{\"path\":\"a\"}", ""),
        of("calls glued", "", "f(path='a')", ""),
        of("calls in calls", "", "f(a=", ""),
        of("comments", "{", "/**/", ""),
        of("comments begun", "{", "/*", ""),
        of("lines of comments", "{", "#\n", ""),
        of("commas", "{", ",", ""),
        of("white space", "{", " ", ""),
        of("words", "", "read the file ", ""),
        of("numbers as texts", "{\"path\":\"a\",\"numbers\":[1", ",\"1\"", "]}"),
        of("wrong items", "{\"path\":\"a\",\"numbers\":[1", ",\"x\"", "]}"),
        of("nothings", "{\"path\":\"a\",\"numbers\":[1", ",null", "]}"),
        of("spelt words", "{\"path\":\"a\",\"words\":[\"by_name\"", ",\"By Date\"", "]}"),
        of("two readings", "{\"path\":\"a\",\"either\":[1", ",\"1\"", "]}"),
        of("unions", "{\"path\":\"a\",\"either\":[1", ",\"yes\"", "]}"),
        of("items for lists", "{\"path\":\"a\",\"lists\":[[]", ",\"a\"", "]}"),
        of("a wide tree", "{\"path\":\"a\",\"tree\":[1", ",{\"tree\":\"1\"}", "]}"),
        of("digits", "{\"path\":\"a\",\"limit\":\"1", "1", "\"}"),
        of("a pattern", "{\"path\":\"a\",\"pattern\":\"", "a", "!\"}"),
        of("groups of digits", "{\"path\":\"a\",\"limit\":\"1", ",000", "\"}"),
        of("numbers out of reach", "{\"path\":\"a\",\"numbers\":[1", ",1e999", "]}"),
        of("a long exponent", "{\"path\":\"a\",\"ratio\":\"1e", "9", "\"}"),
        of("wrappers", "", "{\"arguments\":", ""),
        of("words with colons", "", "a b c: ", "{\"path\":\"a\"}"),
        of("colons", "", ":", "{\"path\":\"a\"}"),
        of("a long word", "", "ab", ": {\"path\":\"a\"}"),
        of("brackets before an object", "", "f(", "{\"path\":\"a\"}"),
    ];
    texts.push(("unknown keys", Box::new(|size| keys(size, |number| format!("k{number}")))));
    texts.push((
        "one key, many spellings",
        Box::new(|size| keys(size, |number| format!("path{}", "_".repeat(number % 50)))),
    ));
    texts.push(("the same key", Box::new(|size| keys(size, |_| "path".to_owned()))));
    texts.push((
        "keys given twice below a long one",
        Box::new(|size| below_a_long_key(size, &twice(size / 2))),
    ));
    texts.push(("changes below a long key", Box::new(changes_below_a_long_key)));
    texts
}

/// What the parser, the ladder and its rules look at.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    "=",
    "\"",
    "'",
    "\\\"",
    "\\",
    "\\u",
    "\\ud83d",
    "\\ude00",
    "“",
    "”",
    "‘",
    "’",
    "//",
    "/*",
    "*/",
    "#",
    "\n",
    "\r\n",
    "\t",
    " ",
    "\u{0}",
    "\u{feff}",
    "```",
    "```json\n",
    "<tool_call>",
    "</tool_call>",
    "<function_call>",
    "null",
    "None",
    "true",
    "True",
    "false",
    "NaN",
    "Infinity",
    "0",
    "-",
    "1",
    "1.0",
    "1e5",
    "1e400",
    "9007199254740993",
    "0x1f",
    "1_000",
    "path",
    "\"path\":",
    "Path=",
    "\"tree\":",
    "'limit':",
    "\"numbers\":",
    "\"either\":",
    "\"arguments\":",
    "\"input\":",
    "\"name\":",
    "f(",
    "\"by_name\"",
    "\"By Date\"",
    "yes",
    "word ",
    "é",
    "😀",
    "{\"path\":\"a\"}",
    "{\"path\":\"a\",",
    "\"{\\\"path\\\":\\\"a\\\"}\"",
];

fn pieces() -> impl Strategy<Value = String> {
    let piece = (select(PIECES), prop_oneof![8 => Just(1_usize), 1 => 2..70_usize]);
    let begins =
        prop_oneof![Just(""), Just("{\"path\":"), Just("{\"path\":\"a\","), Just("{\"tree\":")];
    (begins, prop::collection::vec(piece, 0..24)).prop_map(|(start, pieces)| {
        let rest = pieces.iter().map(|(piece, times)| piece.repeat(*times));
        std::iter::once(start.to_owned()).chain(rest).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: super::cases(),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_text_is_read_or_refused_soon_and_in_few_words(
        text in pieces(),
        lenient in any::<bool>(),
        closing in any::<bool>(),
    ) {
        let ladder = shared();
        let level = if lenient { Repair::Lenient } else { Repair::Standard };
        let brackets = if closing { TruncatedInput::Completed } else { TruncatedInput::Refused };
        let (outcome, bytes) = allocated(|| ladder.repair(&text, level, brackets));
        prop_assert!(bytes < MOST_BYTES, "{} bytes", bytes);
        match outcome {
            Ok(repaired) => {
                let replayed = replay(&text, &repaired.changes);
                prop_assert_eq!(replayed.as_deref(), Some(repaired.text.as_str()));
                let again = ladder.repair(&repaired.text, Repair::Off, TruncatedInput::Refused);
                prop_assert!(again.is_ok_and(|it| it.changes.is_empty()), "{}", repaired.text);
            }
            Err(refusal) => {
                let words = refusal.to_string();
                prop_assert!(!words.is_empty() && words.chars().count() <= 2_000, "{}", words);
            }
        }
    }
}

/// The ladder of all cases.
fn shared() -> &'static Repairer {
    static LADDER: OnceLock<Repairer> = OnceLock::new();
    LADDER.get_or_init(|| Repairer::new(&schema(), []).expect("the schema is right"))
}

/// The bytes that it takes to repair or refuse a text.
fn work(ladder: &Repairer, text: &str, level: Repair) -> usize {
    let (outcome, bytes) = allocated(|| ladder.repair(text, level, TruncatedInput::Completed));
    if let Err(refusal) = outcome {
        assert!(refusal.to_string().chars().count() <= 2_000);
    }
    bytes
}

fn growth(small: usize, large: usize) -> f64 {
    large as f64 / small as f64
}

#[test]
fn the_work_grows_with_the_text_and_no_faster() {
    let ladder = Repairer::new(&schema(), []).unwrap();
    // What is made once for each repairer.
    let _ = ladder.repair("{\"tree\":\"x\"}", Repair::Lenient, TruncatedInput::Refused);
    let mut slow = Vec::new();
    for (name, text) in texts() {
        let (small, large) = (text(SIZE), text(TIMES * SIZE));
        for level in [Repair::Standard, Repair::Lenient] {
            let ratio = growth(work(&ladder, &small, level), work(&ladder, &large, level));
            println!("{name} ({level:?}): {ratio:.1}");
            if ratio > MOST {
                slow.push(format!("{name} ({level:?}): {ratio:.1}"));
            }
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}

#[test]
fn thousands_of_variants_cost_as_many_looks() {
    let ladder = |count: usize| {
        let variant = |number: usize| {
            json!({
                "type": "object", "additionalProperties": false, "required": ["id", "size"],
                "properties": {"id": {"type": "integer", "const": number}, "size": {"type": "integer"}},
            })
        };
        let variants: Vec<Value> = (0..count).map(variant).collect();
        let schema = json!({
            "type": "object", "additionalProperties": false, "required": ["v"],
            "properties": {"v": {"oneOf": variants}},
        });
        Repairer::new(&schema, []).unwrap()
    };
    let (few, many) = (ladder(200), ladder(TIMES * 200));
    let text = r#"{"v":{"id":7,"size":"3"}}"#;
    for ladder in [&few, &many] {
        let repaired = ladder.repair(text, Repair::Standard, TruncatedInput::Refused).unwrap();
        assert_eq!(repaired.text, r#"{"v":{"id":7,"size":3}}"#);
    }
    let work = |ladder| work(ladder, text, Repair::Standard);
    let ratio = growth(work(&few), work(&many));
    println!("variants: {ratio:.1}");
    assert!(ratio <= MOST, "{ratio}");
}

#[test]
fn a_deep_tree_of_unions_is_refused_soon() {
    let ladder = Repairer::new(&schema(), []).unwrap();
    for leaf in ["\"1\"", "\"x\"", "[]", "null"] {
        let tree = |depth: usize| {
            let (begin, end) = ("{\"tree\":".repeat(depth), "}".repeat(depth));
            work(
                &ladder,
                &format!("{{\"path\":\"a\",\"tree\":{begin}{leaf}{end}}}"),
                Repair::Lenient,
            )
        };
        tree(10);
        // A place takes as much room as it is deep.
        let ratio = growth(tree(10), tree(120));
        println!("{leaf}: {ratio:.1}");
        assert!(ratio <= 144.0, "{leaf}: {ratio}");
    }
}

#[test]
fn a_text_of_more_than_a_mebibyte_is_taken_as_it_is_or_not_repaired() {
    let repairer = Repairer::new(&schema(), []).unwrap();
    let long = "a".repeat(1 << 20);
    let right = format!("{{\"path\":\"{long}\"}}");
    let with_text = format!("{{\"path\":\"{long}\",\"numbers\":[\"1\"]}}");
    let repair = |text: &str, level| repairer.repair(text, level, TruncatedInput::Refused);
    for level in [Repair::Off, Repair::Standard, Repair::Lenient] {
        assert_eq!(repair(&right, level).unwrap().text, right);
        let refusal = repair(&with_text, level).unwrap_err().to_string();
        assert!(refusal.starts_with("/numbers/0: found \"1\", expected an integer"), "{refusal}");
    }
    assert_eq!(
        repair(&with_text, Repair::Standard).unwrap_err().to_string(),
        "/numbers/0: found \"1\", expected an integer\n\
         input: found 1048603 bytes, expected at most 1048576 bytes for a repair; \
         a longer input is taken only where the schema accepts it as it is"
    );
}

fn refusal(text: &str) -> Refusal {
    let refused = shared().repair(text, Repair::Lenient, TruncatedInput::Refused);
    refused.expect_err("it is refused")
}

/// The bytes of all the places that a refusal tells.
fn places(refusal: &Refusal) -> usize {
    refusal.problems.iter().map(|problem| problem.pointer.len()).sum()
}

#[test]
fn at_most_a_hundred_keys_that_are_given_twice_are_told_and_the_others_counted() {
    let refusal = refusal(&twice(12 * 5_000));
    assert_eq!((refusal.problems.len(), refusal.unlisted), (100, 2_400));
    assert!(refusal.to_string().ends_with(" more"), "{refusal}");
}

#[test]
fn keys_given_twice_below_a_long_key_take_no_more_room_than_the_text() {
    let refusal = refusal(&below_a_long_key(1_000_000, &twice(12 * 5_000)));
    assert_eq!((refusal.problems.len(), refusal.unlisted), (1, 2_499));
    let nested = format!("[{}]", vec![twice(12 * 500); 8].join(","));
    let refusal = self::refusal(&below_a_long_key(20_000, &nested));
    assert_eq!(refusal.problems.len() + refusal.unlisted, 8 * 250);
    assert!(places(&refusal) <= 64 * 1024, "{}", places(&refusal));
}

#[test]
fn many_changes_below_a_long_key_are_refused() {
    let text = changes_below_a_long_key(1_000_000);
    assert!(refusal(&text).to_string().contains("an input with fewer readings"));
    let few = changes_below_a_long_key(2_000);
    let repaired = shared().repair(&few, Repair::Standard, TruncatedInput::Refused).unwrap();
    assert_eq!(replay(&few, &repaired.changes).as_ref(), Some(&repaired.text));
}

#[test]
fn problems_below_a_long_key_are_few() {
    let items = |item: &str| {
        format!("{{\"path\":\"a\",\"open\":{}}}", {
            below_a_long_key(1_000_000, &format!("[{}]", vec![item; 1_000].join(",")))
        })
    };
    assert_eq!(refusal(&items("{}")).problems.len(), 1);
    let out_of_reach = refusal(&items("1e999"));
    assert_eq!((out_of_reach.problems.len(), out_of_reach.unlisted), (100, 900));
}

/// A recursive schema whose definition has so many properties, and a bound that a plain shape does not include.
fn recursive(count: usize) -> Value {
    let list = || json!({"type": "array", "items": {"$ref": "#/$defs/node"}});
    let node: serde_json::Map<String, Value> =
        (0..count).map(|number| (format!("p{number}"), list())).collect();
    json!({
        "type": "object",
        "properties": {
            "limit": {"type": "integer", "minimum": 1},
            "node": {"$ref": "#/$defs/node"},
        },
        "$defs": {"node": {"type": "object", "properties": node}},
    })
}

#[test]
fn the_first_repair_by_a_recursive_schema_takes_work_that_grows_with_the_schema() {
    let work = |count: usize| {
        let ladder = Repairer::new(&recursive(count), []).unwrap();
        let repair =
            || ladder.repair(r#"{"limit":"5"}"#, Repair::Standard, TruncatedInput::Refused);
        let (repaired, bytes) = allocated(repair);
        assert_eq!(repaired.unwrap().text, r#"{"limit":5}"#);
        bytes
    };
    let (small, large) = (work(60), work(60 * TIMES));
    assert!((large as f64) < MOST * small as f64, "{small} and {large} bytes");
}

/// Properties that all refer to a definition with very many readings.
#[test]
fn the_shapes_of_all_places_take_bounded_work() {
    let ways = |part: usize| -> Vec<Value> {
        (0..10).map(|way| json!({"required": [format!("a{part}_{way}")]})).collect()
    };
    let parts: Vec<Value> = (0..4).map(|part| json!({"anyOf": ways(part)})).collect();
    let properties: serde_json::Map<String, Value> =
        (0..1_000).map(|number| (format!("p{number}"), json!({"$ref": "#/$defs/wide"}))).collect();
    let schema =
        json!({"type": "object", "properties": properties, "$defs": {"wide": {"allOf": parts}}});
    let (ladder, bytes) = allocated(|| Repairer::new(&schema, []).unwrap());
    assert!(bytes < MOST_BYTES, "{bytes} bytes");
    let text = r#"{"p1":{"a0_0":1}}"#;
    assert!(ladder.repair(text, Repair::Standard, TruncatedInput::Refused).is_err());
}
