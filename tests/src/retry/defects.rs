//! Defects that retries of others have had, each with the test that ours have not.

use std::time::Duration;

use toolwright::retry::{RetryPolicy, Stop};
use toolwright::{Effect, ErrorClass, ToolError, tool};

use super::support::{Script, Step, again, with_script};
use crate::support::{builder, call};

/// Theirs: nothing is tried again unless each tool is configured, and none is.
#[tokio::test(start_paused = true)]
async fn a_failed_call_is_tried_again_although_nobody_configured_anything() {
    assert_eq!(RetryPolicy::default().attempts, 3);
    let executor = builder([SPEAK, SPOKEN]).service(Spoken::default()).build().unwrap();
    executor.call(&toolwright::Call::new("speak", r#"{"words":"quiet","transient":true}"#)).await;
    assert_eq!(executor.call(&call("spoken")).await.text(), "3");
}

/// Theirs: the time-out has words of its own, which no pattern matches, so it is never tried again.
#[tokio::test(start_paused = true)]
async fn a_time_out_is_tried_again_where_the_effect_allows_it() {
    let script = Script::of([Step::Hang, Step::Hang]);
    let executor = with_script(&script).timeout(Some(Duration::from_secs(9))).build().unwrap();
    assert_eq!(executor.call(&again()).await.text(), "done in attempt 3");
}

/// Theirs: whatever failed is repeated, payments as well.
#[tokio::test(start_paused = true)]
async fn a_time_out_of_what_must_not_be_repeated_is_answered() {
    let script = Script::of([Step::Hang]);
    let executor = with_script(&script).build().unwrap();
    assert!(executor.call(&call("scripted_once")).await.is_error());
    assert_eq!(script.times(), 1);
}

/// How often somebody spoke.
#[derive(Default)]
struct Spoken(std::sync::atomic::AtomicU32);

/// Fails with these words.
#[tool(name = "speak", handle = SPEAK, effect = read)]
async fn speak(
    spoken: &Spoken,
    /// What the error says.
    words: String,
    /// Whether it may have acted.
    transient: bool,
) -> Result<(), ToolError> {
    spoken.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    let class = if transient { ErrorClass::Transient } else { ErrorClass::Final };
    Err(ToolError::new("spoken", words).class(class))
}

/// How often somebody spoke.
#[tool(name = "spoken", handle = SPOKEN, effect = read)]
async fn spoken(spoken: &Spoken) -> u32 {
    spoken.0.load(std::sync::atomic::Ordering::SeqCst)
}

/// Theirs: the words decide, so that a tool which quotes another's error is repeated.
#[tokio::test(start_paused = true)]
async fn words_decide_nothing() {
    let theirs = [
        "ETIMEDOUT",
        "ECONNRESET",
        "ECONNREFUSED",
        "ENOTFOUND",
        "EPIPE",
        "EBUSY",
        "timeout",
        "socket hang up",
        "network error",
        "temporarily unavailable",
        "service unavailable",
        "rate limit",
    ];
    for words in theirs {
        let executor = builder([SPEAK, SPOKEN]).service(Spoken::default()).build().unwrap();
        let input = serde_json::json!({ "words": words, "transient": false }).to_string();
        executor.call(&toolwright::Call::new("speak", input)).await;
        assert_eq!(executor.call(&call("spoken")).await.text(), "1", "{words}");
    }
}

/// Theirs: chance is added after the longest delay was taken, so that a call waits a quarter longer than it may.
#[test]
fn chance_makes_no_delay_longer_than_the_longest() {
    let policy = RetryPolicy::TOOL.attempts(99);
    for attempt in 1..99 {
        for random in [0, 1, u64::MAX / 2, u64::MAX] {
            let delay = policy.next(attempt, ErrorClass::Transient, Effect::Read, random).unwrap();
            assert!(delay <= policy.max_delay, "{attempt} {random}");
        }
    }
}

/// Theirs: nobody hears the time that a server names.
#[test]
fn the_time_that_a_server_names_is_not_cut_short() {
    let limited = ErrorClass::NotStarted { retry_after: Some(Duration::from_secs(120)) };
    let delay = RetryPolicy::TOOL.next(1, limited, Effect::Once, 0);
    assert_eq!(delay, Ok(Duration::from_secs(120)));
}

/// Theirs: the number of attempts is that of retries in one place and counts the first in another.
#[test]
fn the_first_attempt_counts_everywhere() {
    let next = |policy: RetryPolicy| policy.next(1, ErrorClass::Transient, Effect::Read, 0);
    assert_eq!(next(RetryPolicy::NONE), Err(Stop::Exhausted));
    assert!(next(RetryPolicy::TOOL.attempts(2)).is_ok());
}
