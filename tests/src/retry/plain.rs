//! Calls that no journal keeps.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use toolwright::retry::RetryPolicy;
use toolwright::{DynamicTool, ErrorClass, Executor, Registry, Retry, ToolError, tool};

use super::support::{Delays, EVEN, NOT_STARTED, Script, Step, again, limited, said, with_script};
use crate::support::{Held, Log, builder, call, kind};

const EFFECTS: [&str; 4] = ["scripted_read", "scripted_again", "scripted_keyed", "scripted_once"];

#[tokio::test(start_paused = true)]
async fn what_never_started_is_tried_again_whatever_its_effect_with_the_same_id_and_key() {
    for name in EFFECTS {
        let script = Script::fails(2, NOT_STARTED);
        let executor = with_script(&script).build().unwrap();
        assert_eq!(executor.call(&call(name)).await.text(), "done in attempt 3", "{name}");
        assert!(script.keys().iter().all(|key| *key == script.keys()[0]), "{name}");
        assert!(script.ids().iter().all(|id| *id == script.ids()[0]), "{name}");
    }
}

/// S1.6
#[tokio::test(start_paused = true)]
async fn what_may_have_acted_is_tried_again_unless_it_must_not_be_repeated() {
    for name in EFFECTS {
        for step in [Step::Fail(ErrorClass::Transient), Step::Hang] {
            let script = Script::of([step.clone()]);
            let executor = with_script(&script).build().unwrap();
            let answer = executor.call(&call(name)).await;
            let is_repeated = name != "scripted_once";
            assert_eq!(!answer.is_error(), is_repeated, "{name} {step:?}");
            assert_eq!(script.times(), 1 + usize::from(is_repeated), "{name} {step:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_would_fail_again_is_not_tried_again() {
    for step in [
        Step::Fail(ErrorClass::Invalid),
        Step::Fail(ErrorClass::Final),
        Step::Fail(ErrorClass::Cancelled),
        Step::Fail(ErrorClass::Unknown),
        Step::Panic,
    ] {
        let script = Script::of([step.clone()]);
        let executor = with_script(&script).build().unwrap();
        assert!(executor.call(&call("scripted_read")).await.is_error(), "{step:?}");
        assert_eq!(script.times(), 1, "{step:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_answer_of_the_last_attempt_is_the_answer_as_its_tool_said_it() {
    let script = Script::fails(9, ErrorClass::Transient);
    let executor = with_script(&script).build().unwrap();
    let answer = executor.call(&again()).await;
    let error = answer.error().unwrap();
    assert_eq!(
        error.to_json(),
        r#"{"is_error":true,"error_type":"scripted","message":"attempt 3 failed"}"#
    );
    assert_eq!((error.classified(), script.times()), (ErrorClass::Transient, 3));
}

#[tokio::test(start_paused = true)]
async fn listeners_hear_of_each_attempt_that_is_not_the_last() {
    let (log, delays) = (Log::default(), Delays::default());
    let script = Script::fails(9, ErrorClass::Transient);
    let builder = delays.listen(with_script(&script).listen(log.listener()));
    builder.build().unwrap().call(&again()).await;
    assert_eq!(delays.seconds(), [(1, 1), (2, 2)]);
    let attempt = ["executing", "retrying"];
    let expected =
        ["started"].into_iter().chain(attempt).chain(attempt).chain(["executing", "failed"]);
    assert_eq!(log.lines(), expected.collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn the_time_that_the_other_side_names_is_waited_even_where_it_is_longer_than_any_delay() {
    let delays = Delays::default();
    let script = Script::of([Step::Fail(limited(60)), Step::Fail(limited(0))]);
    let executor = delays.listen(with_script(&script)).build().unwrap();
    let began = tokio::time::Instant::now();
    assert!(!executor.call(&call("scripted_once")).await.is_error());
    assert_eq!(delays.seconds(), [(1, 60), (2, 2)]);
    assert_eq!(began.elapsed().as_secs(), 62, "by the clock that stands still");
}

#[tokio::test(start_paused = true)]
async fn a_server_holds_no_call_for_longer_than_a_minute_or_the_longest_delay_of_the_policy() {
    for seconds in [61, 3600, 4_000_000_000] {
        let (script, delays) = (Script::of([Step::Fail(limited(seconds))]), Delays::default());
        let executor = delays.listen(with_script(&script)).build().unwrap();
        let answer = executor.call(&call("scripted_once")).await;
        assert_eq!(answer.error().unwrap().classified(), limited(seconds), "it still says when");
        assert_eq!((script.times(), delays.seconds()), (1, vec![]), "{seconds}");
    }
    let (script, delays) = (Script::of([Step::Fail(limited(3600))]), Delays::default());
    let patient = EVEN.max_delay(Duration::from_secs(3600));
    let executor = delays.listen(with_script(&script).retry(patient)).build().unwrap();
    assert!(!executor.call(&call("scripted_once")).await.is_error());
    assert_eq!(delays.seconds(), [(1, 3600)]);
}

#[tokio::test(start_paused = true)]
async fn what_a_tool_says_itself_comes_before_the_executors_policy() {
    let delays = Delays::default();
    let script = Script::fails(9, ErrorClass::Transient);
    let executor = delays.listen(with_script(&script)).build().unwrap();
    executor.call(&call("scripted_often")).await;
    assert_eq!(delays.seconds(), [(1, 10), (2, 20), (3, 20), (4, 20)]);
    assert_eq!(script.times(), 5);
}

#[tokio::test(start_paused = true)]
async fn the_retries_of_a_run_are_shared_by_its_calls_and_by_no_other_run() {
    let script = Script::fails(20, ErrorClass::Transient);
    let executor = with_script(&script).retry(EVEN.attempts(9)).retries_per_run(3).build().unwrap();
    let run = executor.run("spends").start().unwrap();
    run.call(&again()).await;
    assert_eq!(script.times(), 4);
    assert_eq!(said(&run.call(&again()).await), "attempt 5 failed");
    let other = executor.run("saves").start().unwrap();
    other.call(&again()).await;
    assert_eq!(script.times(), 9);
}

/// Answers nothing but errors at first, and takes nothing but its service.
#[tool(effect = read)]
async fn fail_at_first(
    count: &AtomicU32,
    /// Whether to wait before.
    late: bool,
) -> Result<u32, ToolError> {
    if late {
        tokio::task::yield_now().await;
    }
    match count.fetch_add(1, Ordering::SeqCst) + 1 {
        count if count < 3 => {
            Err(ToolError::new("early", "too early").class(ErrorClass::Transient))
        }
        count => Ok(count),
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_carries_nothing_of_its_own_is_tried_again_as_well() {
    for late in ["false", "true"] {
        let executor = builder([FAIL_AT_FIRST]).service(AtomicU32::new(0)).build().unwrap();
        let input = format!(r#"{{"late":{late}}}"#);
        let answer = executor.call(&toolwright::Call::new("fail_at_first", input)).await;
        assert_eq!(answer.text(), "3", "late: {late}");
    }
}

/// Holds a resource and fails at first.
#[tool(effect = idempotent)]
async fn fail_with_a_resource(held: &mut Held<7>, count: &AtomicU32) -> Result<(), ToolError> {
    held.log.add("use");
    match count.fetch_add(1, Ordering::SeqCst) {
        0 => Err(ToolError::new("early", "too early").class(ErrorClass::Transient)),
        _ => Ok(()),
    }
}

#[tokio::test(start_paused = true)]
async fn each_attempt_opens_what_it_borrows_anew() {
    let log = Log::default();
    let executor = builder([FAIL_WITH_A_RESOURCE])
        .service(AtomicU32::new(0))
        .resource(Held::<7>::opener(&log))
        .build()
        .unwrap();
    assert!(!executor.call(&call("fail_with_a_resource")).await.is_error());
    let lines = log.lines();
    let attempts: Vec<&[String]> = lines.chunks(3).collect();
    assert_eq!(attempts.len(), 2, "{lines:?}");
    for attempt in attempts {
        assert_eq!(attempt[..2], ["open 7", "use"]);
        assert!(attempt[2].starts_with("close 7"), "{lines:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_executor_refuses_before_the_tool_begins_is_not_tried_again() {
    let (log, script) = (Log::default(), Script::of([]));
    let executor = with_script(&script).listen(log.listener()).build().unwrap();
    for (name, input, expected) in [
        ("scripted_asking", "{}", "approval_required"),
        ("nobody", "{}", "unknown_tool"),
        ("scripted_secret", "{}", "invalid_input"),
    ] {
        let answer = executor.call(&toolwright::Call::new(name, input)).await;
        assert_eq!(kind(&answer), expected);
    }
    let _ = executor.drain(Duration::ZERO).await;
    assert_eq!(kind(&executor.call(&again()).await), "shutting_down");
    assert_eq!((log.count("retrying"), script.times()), (0, 0));
}

#[test]
fn a_runtime_without_a_clock_answers_the_first_error() {
    let script = Script::fails(1, NOT_STARTED);
    let executor = with_script(&script).build().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let answer = runtime.block_on(executor.call(&again()));
    assert_eq!((said(&answer).as_str(), script.times()), ("attempt 1 failed", 1));
}

#[tokio::test(start_paused = true)]
async fn a_tool_made_at_run_time_says_how_often_it_is_tried() {
    let count = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&count);
    let fails =
        DynamicTool::new("fails_always", "Fails.", json!({"type": "object"}), move |_, _| {
            counted.fetch_add(1, Ordering::SeqCst);
            async { Err::<(), _>(ToolError::new("lost", "lost").class(NOT_STARTED)) }
        });
    let registry = Registry::empty();
    registry.register(fails.retry(Retry { attempts: Some(5), ..Retry::default() })).unwrap();
    let executor = Executor::builder(registry).unrestricted().build().unwrap();
    assert_eq!(kind(&executor.call(&call("fails_always")).await), "lost");
    assert_eq!(count.load(Ordering::SeqCst), 5);
}

#[test]
fn a_policy_that_cannot_be_meant_is_told_by_the_builder() {
    let script = Arc::default();
    for (policy, word) in
        [(RetryPolicy::TOOL.attempts(0), "attempts"), (EVEN.multiplier(0), "multiplier")]
    {
        let error = with_script(&script).retry(policy).build().unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
}
