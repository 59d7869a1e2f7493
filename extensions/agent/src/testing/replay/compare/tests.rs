//! What may differ, and how the first difference is named.

use serde_json::json;

use super::*;

fn difference(recorded: Value, received: Value) -> Option<String> {
    let placeholders = Placeholders::standard().value("folder", "/tmp/work-7");
    let found = Comparison::default().difference(&recorded, &received, &placeholders);
    found.map(|it| it.to_string())
}

fn said(words: &str) -> Value {
    json!({"messages": [{"role": "user", "content": words}]})
}

#[test]
fn the_first_difference_is_named_by_its_pointer() {
    let recorded = json!({"model": "m", "messages": [{"role": "user"}, {"role": "assistant"}]});
    for (received, words) in [
        (
            json!({"model": "n", "messages": [{"role": "user"}, {"role": "assistant"}]}),
            r#"at /model: recorded "m", received "n""#,
        ),
        (
            json!({"model": "m", "messages": [{"role": "user"}, {"role": "user"}]}),
            r#"at /messages/1/role: recorded "assistant", received "user""#,
        ),
        (
            json!({"model": "m", "messages": [{"role": "user"}]}),
            r#"at /messages/1: recorded {"role":"assistant"}, received nothing"#,
        ),
        (
            json!({"model": "m", "messages": [{"role": "user"}, {"role": "assistant"}], "a/b": 1.0}),
            "at /a~1b: recorded nothing, received 1.0",
        ),
        (
            json!([]),
            r#"at the top: recorded {"messages":[{"role":"user"},{"role":"assistant"}],"model""#,
        ),
    ] {
        let found = difference(recorded.clone(), received).unwrap();
        assert!(found.starts_with(words), "{found}");
    }
    assert_eq!(difference(recorded.clone(), recorded), None);
}

#[test]
fn a_long_text_is_shown_where_it_differs() {
    let (one, other) = ("a".repeat(500) + "x", "a".repeat(500) + "y");
    let found = difference(said(&one), said(&other)).unwrap();
    assert_eq!(
        found,
        r#"at /messages/0/content: recorded "…aaaaaaaaaax", received "…aaaaaaaaaay""#
    );
}

#[test]
fn what_differs_between_runs_may_differ_and_nothing_else_may() {
    let recorded = "ran in {{folder}} as strsim-{{hash}}, finished in {{duration}}";
    let received = "ran in /tmp/work-7 as strsim-b260d88d2f51b3ef, finished in 1.07s";
    assert_eq!(difference(said(recorded), said(received)), None);
    let panicked = "thread 'tests::a' ({{thread}}) panicked at {{time}}";
    let this_time = "thread 'tests::a' (1788) panicked at 2026-01-31T09:30:00.5Z";
    assert_eq!(difference(said(panicked), said(this_time)), None);
    let elsewhere = "ran in /tmp/work-8 as strsim-b260d88d2f51b3ef, finished in 1.07s";
    let found = difference(said(recorded), said(elsewhere)).unwrap();
    assert!(found.starts_with("at /messages/0/content: "), "{found}");
    assert!(difference(said("87 passed"), said("88 passed")).is_some());
}

#[test]
fn a_description_that_names_another_duration_is_another_description() {
    let tool = |words: &str| json!({"tools": [{"description": words}]});
    assert!(difference(tool("waits 1.5s"), tool("waits 2.5s")).is_some());
}

#[test]
fn an_id_may_be_another_as_long_as_it_is_one() {
    let turn = |call: &str, answer: &str| {
        json!({"messages": [
            {"role": "assistant", "content": [{"type": "tool_use", "id": call, "input": {"id": "a"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": answer}]},
        ]})
    };
    assert_eq!(difference(turn("toolu_1", "toolu_1"), turn("toolu_9", "toolu_9")), None);
    let found = difference(turn("toolu_1", "toolu_1"), turn("toolu_9", "toolu_8")).unwrap();
    assert!(found.starts_with("at /messages/1/content/0/tool_use_id: "), "{found}");
    let merged = difference(turn("toolu_1", "toolu_2"), turn("toolu_9", "toolu_9"));
    assert!(merged.is_some(), "two ids are not one");
    let mut other = turn("toolu_1", "toolu_1");
    other["messages"][0]["content"][0]["input"]["id"] = json!("b");
    let found = difference(turn("toolu_1", "toolu_1"), other).unwrap();
    assert!(found.starts_with("at /messages/0/content/0/input/id: "), "an argument is no id");
}

#[test]
fn anything_stands_in_the_place_of_a_secret() {
    let arguments = |secret: &str| said(&format!(r#"{{"user":"ada","password":"{secret}"}}"#));
    assert_eq!(difference(arguments("{{secret}}"), arguments("hunter2")), None);
    let other = said(r#"{"user":"eve","password":"hunter2"}"#);
    assert!(difference(arguments("{{secret}}"), other).is_some());
    assert_eq!(difference(said("{{secret}}, {{secret}}!"), said("a, b!")), None);
    assert!(difference(said("{{secret}}, {{secret}}!"), said("a, b")).is_some());
}
