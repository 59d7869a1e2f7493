//! What a refused call is told: every place, in words to act on, and short.

use serde_json::{Value, json};
use toolwright::Repair;
use toolwright::unstable::repair::{Refusal, Repairer, TruncatedInput};

fn schema() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["path", "unit"],
        "properties": {
            "path": {"type": "string", "minLength": 1},
            "unit": {"enum": ["celsius", "kelvin"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
            "when": {"oneOf": [
                {
                    "type": "object", "additionalProperties": false, "required": ["kind", "day"],
                    "properties": {"kind": {"const": "day"}, "day": {"type": "integer"}},
                },
                {
                    "type": "object", "additionalProperties": false, "required": ["kind", "hours"],
                    "properties": {"kind": {"const": "span"}, "hours": {"type": "integer"}},
                },
            ]},
            "count": {"type": ["integer", "boolean"]},
            "name": {"type": "string", "pattern": "^[a-z]+$"},
        },
    })
}

fn refusal(text: &str) -> Refusal {
    let ladder = Repairer::new(&schema(), []).expect("the schema is right");
    ladder.repair(text, Repair::Standard, TruncatedInput::Refused).expect_err("it is refused")
}

fn told(text: &str, lines: &[&str]) {
    let refusal = refusal(text).to_string();
    println!("{text}\n{}\n", refusal.lines().map(|it| format!("    {it}\n")).collect::<String>());
    assert_eq!(refusal.lines().collect::<Vec<_>>(), lines, "{text}");
}

#[test]
fn every_place_is_told_the_missing_first() {
    told(
        r#"{"limit":"many","tags":["a",null],"when":3,"pth":"x"}"#,
        &[
            "/path: missing, expected a string of at least 1 character",
            "/unit: missing, expected one of \"celsius\", \"kelvin\"",
            "/limit: found \"many\", expected an integer from 1 to 100",
            "/tags/1: found null, expected a string",
            "/when: found 3, expected an object",
            "/pth: unknown key, expected one of \"count\", \"limit\", \"name\", \"path\", \"tags\", \"unit\", \"when\"; did you mean \"path\"?",
        ],
    );
}

#[test]
fn an_error_about_syntax_names_the_place_in_the_text_that_was_sent() {
    for (text, words) in [
        ("\n\n{\"a\": tru}", "found tru}, expected a value at character 9"),
        ("\u{feff}  tru", "found tru, expected a value at character 4"),
        ("```json\n{\"a\": tru}\n```", "found tru}"),
        ("<tool_call> {\"a\": tru} </tool_call>", "found tru}"),
    ] {
        let refusal = refusal(text).to_string();
        assert!(refusal.contains(words), "{text}: {refusal}");
    }
}

#[test]
fn what_was_probably_meant_is_shown_where_one_reading_is_left() {
    told(
        r#"{"path":"a","unit":"celsus","limit":"5"}"#,
        &[
            "/unit: found \"celsus\", expected one of \"celsius\", \"kelvin\"; did you mean \"celsius\"?",
            "if this is meant, send it: {\"path\":\"a\",\"unit\":\"celsius\",\"limit\":5}",
        ],
    );
    told(
        r#"{"path":"a","unit":"kelvin","limt":5}"#,
        &[
            "/limt: unknown key, expected one of \"count\", \"limit\", \"name\", \"path\", \"tags\", \"unit\", \"when\"; did you mean \"limit\"?",
            "if this is meant, send it: {\"path\":\"a\",\"unit\":\"kelvin\",\"limit\":5}",
        ],
    );
}

#[test]
fn a_union_is_told_by_the_way_that_was_meant() {
    told(
        r#"{"path":"a","unit":"kelvin","when":{"kind":"span","hour":"3"}}"#,
        &[
            "/when/hours: missing, expected an integer",
            "/when/hour: unknown key, expected one of \"hours\", \"kind\"; did you mean \"hours\"?",
            "if this is meant, send it: {\"path\":\"a\",\"unit\":\"kelvin\",\"when\":{\"kind\":\"span\",\"hours\":3}}",
        ],
    );
    told(
        r#"{"path":"a","unit":"kelvin","count":"1"}"#,
        &["/count: this may be read as true or 1; say which"],
    );
}

#[test]
fn limits_are_told_with_what_was_found() {
    told(
        r#"{"path":"","unit":"kelvin","limit":"1000","tags":["a","b","c"],"name":"A1"}"#,
        &[
            "/limit: found \"1000\", expected an integer from 1 to 100",
            "/name: found \"A1\", expected text that matches `^[a-z]+$`",
            "/path: found 0 characters, expected at least 1 character",
            "/tags: found 3 items, expected at most 2 items",
        ],
    );
}

#[test]
fn a_text_that_is_cut_off_is_told_so() {
    let advice = "the text ends in the middle, as if it was cut off: send less in one call, long content in several parts";
    told(
        r#"{"path":"a","unit":"kel"#,
        &["input: found the end of the text, expected a closing quotation mark", advice],
    );
    told(
        r#"{"path":"a","tags":["a","#,
        &["input: found the end of the text, expected a value", advice],
    );
}

#[test]
fn a_text_that_is_not_json_is_told_where() {
    told(
        r#"{"path":"say "hi" now","unit":"kelvin"}"#,
        &[
            "input: found hi\" now\",\"unit\":\"kelvin\"}, expected a comma or a closing brace at character 15; write \\\" for a quotation mark inside a text",
        ],
    );
    told("I cannot do that.", &["input: found I cannot do that., expected a JSON object"]);
    told(
        r#"{"path":"a","path":"b","tags":[{"x":1,"x":2}]}"#,
        &[
            "/tags/0/x: duplicate key, expected each key once",
            "/path: duplicate key, expected each key once",
        ],
    );
}

#[test]
fn a_refusal_is_short_whatever_is_wrong() {
    let items: Vec<String> = (0..500).map(|number| format!("[{number}]")).collect();
    let text = format!(
        r#"{{"path":"a","unit":"kelvin","tags":[{}],"limit":"{}"}}"#,
        items.join(","),
        "x".repeat(5_000)
    );
    let refusal = refusal(&text).to_string();
    println!("{refusal}");
    assert!(refusal.chars().count() <= 2_000);
    assert!(refusal.lines().last().unwrap().starts_with("and "));
    assert!(refusal.contains("/limit: found \"xxx"));
}
