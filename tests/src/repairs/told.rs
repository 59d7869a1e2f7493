//! The caller, the listeners and whoever judges a call are told what was changed in its input.

use std::sync::{Arc, Mutex};

use toolwright::repair::replay;
use toolwright::retry::RetryPolicy;
use toolwright::{Call, ToolContext, ToolError, ToolEventKind, tool};

use crate::support::{Log, builder, executor, kind};

/// Counts, perhaps later.
#[tool(effect = read)]
async fn count_to(
    context: &ToolContext,
    /// How far.
    last: u32,
    /// Whether to wait before.
    #[arg(default)]
    late: bool,
    /// Whether to fail.
    #[arg(default)]
    fail: bool,
) -> Result<u32, ToolError> {
    if late {
        tokio::task::yield_now().await;
    }
    context.progress("counting", None);
    if fail { Err(ToolError::new("lost_count", "it was too much")) } else { Ok(last) }
}

fn changes(answer: &toolwright::Answer) -> Vec<String> {
    answer.repairs().unwrap().changes().iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn the_answer_says_what_was_changed_whether_the_tool_waits_or_fails() {
    let executor = executor([COUNT_TO]);
    for (rest, kind_of_end) in [
        ("", "ok"),
        (r#","late":true"#, "ok"),
        (r#","fail":true"#, "lost_count"),
        (r#","late":true,"fail":true"#, "lost_count"),
    ] {
        let arguments = format!(r#"{{"last":"7"{rest}}}"#);
        let answer = executor.call(&Call::new("count_to", arguments.as_str())).await;
        assert_eq!(kind(&answer), kind_of_end);
        assert_eq!(changes(&answer), [r#"/last: "7" became 7 (integer)"#]);
        assert!(!answer.repairs().unwrap().is_lenient());
        let replayed = replay(&arguments, answer.repairs().unwrap().changes());
        assert_eq!(replayed.unwrap(), arguments.replace("\"7\"", "7"));
    }
    let sound = executor.call(&Call::new("count_to", r#"{"last":7}"#)).await;
    assert!(sound.repairs().is_none());
}

#[tokio::test]
async fn listeners_hear_of_it_after_the_start_and_before_the_tool_runs() {
    let log = Log::default();
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let executor = builder([COUNT_TO])
        .listen(log.listener())
        .listen(move |event| {
            if let ToolEventKind::Repaired { repairs } = event.kind {
                let changes = repairs.changes().iter().map(ToString::to_string);
                heard.lock().unwrap().push((event.tool.to_owned(), changes.collect::<Vec<_>>()));
            }
        })
        .build()
        .unwrap();
    executor.call(&Call::new("count_to", r#"{"Last":"7"}"#)).await;
    assert_eq!(log.lines(), ["started", "repaired", "executing", "progress", "completed"]);
    let changes =
        [r#"/Last: "Last" became "last" (key_spelling)"#, r#"/last: "7" became 7 (integer)"#];
    let changes = changes.map(str::to_owned).to_vec();
    assert_eq!(*told.lock().unwrap(), [("count_to".to_owned(), changes)]);
}

#[tokio::test]
async fn nobody_hears_of_a_repair_of_input_that_is_refused_or_sound() {
    for arguments in [r#"{"last":"many"}"#, r#"{"last":7}"#] {
        let log = Log::default();
        let executor = builder([COUNT_TO]).listen(log.listener()).build().unwrap();
        executor.call(&Call::new("count_to", arguments)).await;
        assert_eq!(log.count("repaired"), 0, "{arguments}");
    }
}

#[test]
fn who_examines_a_call_sees_what_would_be_changed() {
    let executor = executor([COUNT_TO]);
    let facts = executor.examine(&Call::new("count_to", r#"{"last":"7"}"#)).unwrap();
    assert_eq!(facts.repairs().unwrap().changes().len(), 1);
    assert!(executor.examine(&Call::new("count_to", r#"{"last":7}"#)).unwrap().repairs().is_none());
}

#[tokio::test]
async fn what_was_changed_is_json_for_whoever_writes_it_down() {
    let answer = executor([COUNT_TO]).call(&Call::new("count_to", r#"{"last":"7"}"#)).await;
    let written = serde_json::to_value(answer.repairs().unwrap()).unwrap();
    let change =
        serde_json::json!({"pointer": "/last", "rule": "integer", "from": "\"7\"", "to": "7"});
    assert_eq!(written, serde_json::json!({"changes": [change], "lenient": false}));
}

/// Takes for ever.
#[tool(effect = read, timeout = "50ms")]
async fn count_for_ever(
    /// From where.
    first: u32,
) -> u32 {
    crate::support::forever::<()>().await;
    first
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ends_without_its_tool_was_told_to_listeners_all_the_same() {
    let log = Log::default();
    let executor = builder([COUNT_FOR_EVER])
        .listen(log.listener())
        .retry(RetryPolicy::TOOL.attempts(2))
        .build()
        .unwrap();
    let answer = executor.call(&Call::new("count_for_ever", r#"{"first":"1"}"#)).await;
    assert_eq!(kind(&answer), "timeout");
    assert!(answer.repairs().is_none());
    assert_eq!(
        log.lines(),
        ["started", "repaired", "executing", "retrying", "executing", "failed"],
        "once, however often it is tried"
    );
}
