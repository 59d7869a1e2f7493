//! Tools made at run time are mended by the same rules, judged by the schema that they came with.

use serde_json::{Value, json};
use toolwright::{Call, DynamicTool, Executor, Registry, Repair};

use crate::support::kind;

fn executor(level: Repair) -> Executor {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1},
            "limit": {"type": "integer", "minimum": 1},
            "mode": {"enum": ["read", "write"]},
            "name": {"type": "string", "pattern": "^(a+)+$"},
        },
        "required": ["path"],
        "additionalProperties": false,
    });
    let echo =
        DynamicTool::new("echo", "Says its input.", schema, |mut input: Value, _| async move {
            input.sort_all_objects();
            Ok(input.to_string())
        });
    Executor::builder(Registry::of([echo]).unwrap()).unrestricted().repair(level).build().unwrap()
}

#[tokio::test]
async fn a_run_time_tool_gets_what_was_meant() {
    let executor = executor(Repair::Standard);
    let call = |arguments: &'static str| Call::new("echo", arguments);
    let answer = executor.call(&call(r#"{"PATH":7,"limit":"3","mode":"Read"}"#)).await;
    assert_eq!(answer.text(), r#"{"limit":3,"mode":"read","path":"7"}"#);
    assert_eq!(answer.repairs().unwrap().changes().len(), 4);
    let refused = executor.call(&call(r#"{"path":"a","limit":"0"}"#)).await;
    assert_eq!(kind(&refused), "invalid_input");
    assert!(
        refused.text().contains(r#"/limit: found \"0\", expected an integer of at least 1"#),
        "{}",
        refused.text()
    );
}

#[tokio::test]
async fn the_level_of_the_executor_holds_for_run_time_tools() {
    let arguments = r#"{"path":"a","limt":"3"}"#;
    for (level, end) in [
        (Repair::Off, "invalid_input"),
        (Repair::Standard, "invalid_input"),
        (Repair::Lenient, "ok"),
    ] {
        assert_eq!(kind(&executor(level).call(&Call::new("echo", arguments)).await), end);
    }
}

#[tokio::test]
async fn a_pattern_of_a_foreign_schema_cannot_hang() {
    let name = "a".repeat(100_000);
    let arguments = json!({"path": "a", "name": format!("{name}!")}).to_string();
    let answer = executor(Repair::Lenient).call(&Call::new("echo", arguments)).await;
    assert_eq!(kind(&answer), "invalid_input");
}

#[tokio::test]
async fn a_call_of_another_tool_is_never_mended_into_a_call_of_this_one() {
    let schema = json!({
        "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"],
        "additionalProperties": false,
    });
    let echo = DynamicTool::new("say_path", "Says its input.", schema, |input, _| async move {
        Ok(input.to_string())
    });
    let registry = Registry::of([echo.prefixed("fs_")]).unwrap();
    let executor = Executor::builder(registry).unrestricted().build().unwrap();
    for (sent, is_taken) in [
        (r#"{"name":"fs_say_path","arguments":{"path":"a"}}"#, true),
        (r#"functions.fs_say_path(path="a")"#, true),
        (r#"{"name":"read_path","arguments":{"path":"a"}}"#, false),
        (r#"read_path(path="a")"#, false),
    ] {
        let answer = executor.call(&Call::new("fs_say_path", sent)).await;
        assert_eq!(!answer.is_error(), is_taken, "{sent}: {}", answer.text());
        let names_it = answer.text().contains(r#"a call of \"read_path\""#);
        assert!(is_taken || names_it, "{}", answer.text());
    }
}

/// Each mistake tells its place, which begins with the key.
#[tokio::test]
async fn many_mistakes_below_a_long_key_are_answered_in_few_words() {
    let schema = json!({
        "type": "object",
        "additionalProperties": {"type": "array", "items": {"type": "integer"}},
    });
    let echo = DynamicTool::new("echo", "Says its input.", schema, |input, _| async move {
        Ok(input.to_string())
    });
    let executor = Executor::builder(Registry::of([echo]).unwrap()).unrestricted();
    let executor = executor.build().unwrap();
    let arguments = format!("{{\"{}\":[{}1]}}", "k".repeat(300_000), "\"a\",".repeat(40_000));
    let answer = executor.call(&Call::new("echo", arguments)).await;
    assert_eq!(kind(&answer), "invalid_input");
    assert!(answer.text().len() < 10_000, "{} bytes", answer.text().len());
}
