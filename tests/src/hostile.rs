//! Tools that misbehave beyond a plain panic still leave their callers with one answer.

use std::panic::panic_any;
use std::sync::Mutex;
use std::time::Duration;

use toolwright::retry::RetryPolicy;
use toolwright::{Call, ToolContext, ToolError, ToolEventKind, tool};

use crate::support::{Log, builder, call, ended, executor, kind};

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

/// Waits for ever with a bomb in hand.
#[tool(effect = read, timeout = "50ms")]
async fn hold_a_bomb() {
    let _bomb = Bomb;
    crate::support::forever::<()>().await;
}

/// Panics with a bomb.
#[tool(effect = read)]
async fn throw_a_bomb(
    /// Whether to wait before.
    late: bool,
) {
    if late {
        tokio::task::yield_now().await;
    }
    panic_any(Bomb);
}

/// Uses up every poll it is given.
#[tool(effect = read, timeout = "50ms")]
async fn eat_polls() {
    loop {
        tokio::task::consume_budget().await;
    }
}

/// Waits for a while.
#[tool(effect = read)]
async fn wait_a_while() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

/// Tells of its progress after its time.
#[tool(effect = read, timeout = "50ms")]
async fn talk_on(context: &ToolContext, kept: &Mutex<Option<ToolContext>>) {
    *kept.lock().unwrap() = Some(context.clone());
    crate::support::forever::<()>().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_tool_drops_when_its_time_is_up_does_not_reach_the_caller() {
    assert_eq!(kind(&executor([HOLD_A_BOMB]).call(&call("hold_a_bomb")).await), "timeout");
}

#[tokio::test]
async fn a_panic_with_a_value_that_panics_again_is_one_answer() {
    let executor = executor([THROW_A_BOMB]);
    for input in [r#"{"late":false}"#, r#"{"late":true}"#] {
        assert_eq!(kind(&executor.call(&Call::new("throw_a_bomb", input)).await), "panic");
    }
}

#[tokio::test]
async fn a_tool_that_is_always_busy_runs_out_of_time() {
    let executor = executor([EAT_POLLS]);
    assert_eq!(kind(&ended(executor.call(&call("eat_polls"))).await), "timeout");
}

#[test]
fn without_a_clock_a_call_that_waits_is_answered_and_operators_read_why() {
    let executor = executor([HOLD_A_BOMB]);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let answer = runtime.block_on(async { executor.call(&call("hold_a_bomb")).await });
    let error = answer.error().unwrap();
    assert_eq!(error.kind(), "internal_error");
    assert!(error.source().unwrap().to_string().contains("time enabled"));
}

#[tokio::test(start_paused = true)]
async fn progress_after_the_answer_is_not_told() {
    let log = Log::default();
    let kept = std::sync::Arc::new(Mutex::new(None::<ToolContext>));
    let executor = builder([TALK_ON])
        .service_arc(kept.clone())
        .listen(log.listener())
        .retry(RetryPolicy::NONE)
        .build()
        .unwrap();
    executor.call(&call("talk_on")).await;
    let context = kept.lock().unwrap().take().unwrap();
    assert!(context.is_cancelled());
    context.progress("still here", None);
    assert_eq!(log.lines(), ["started", "executing", "failed"]);
}

#[tokio::test]
async fn a_drain_ends_after_the_last_end_was_told() {
    let log = Log::default();
    let slow = log.clone();
    let executor = builder([WAIT_A_WHILE])
        .listen(move |event| {
            if let ToolEventKind::Completed { .. } = event.kind {
                std::thread::sleep(Duration::from_millis(20));
                slow.add("told");
            }
        })
        .build()
        .unwrap();
    let running = executor.clone();
    let call = tokio::spawn(async move { running.call(&call("wait_a_while")).await.is_error() });
    tokio::task::yield_now().await;
    let _ = executor.drain(Duration::from_secs(5)).await;
    assert_eq!(log.lines(), ["told"]);
    assert!(!call.await.unwrap());
}

#[test]
fn an_error_is_an_error_of_the_standard_library_and_survives_a_box() {
    let error = ToolError::new("not_found", "no such note").caused_by("row 7");
    let boxed: Box<dyn std::error::Error + Send + Sync> = Box::new(error);
    assert_eq!(boxed.source().unwrap().to_string(), "row 7");
    assert_eq!(ToolError::from(boxed).kind(), "not_found");
}

#[tokio::test]
async fn what_is_printed_for_debugging_shows_no_result_and_no_arguments() {
    let answer =
        crate::support::executor([ECHO]).call(&Call::new("echo", r#"{"text":"hunter2"}"#)).await;
    assert_eq!(format!("{answer:?}"), "Answer { text_bytes: 7 }");
    let message = r#"[{"type":"tool_use","id":"t1","name":"echo","input":{"text":"hunter2"}}]"#;
    let calls = toolwright::provider::Provider::Anthropic.tool_calls(message).unwrap();
    assert!(!format!("{calls:?}").contains("hunter2"));
}

/// Says it again.
#[tool(effect = read)]
async fn echo(
    /// What.
    text: String,
) -> String {
    text
}
