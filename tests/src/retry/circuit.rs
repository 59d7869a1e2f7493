//! A tool that keeps failing is left alone for a while.

use std::time::Duration;

use toolwright::journal::State;
use toolwright::policy::{ArgumentTest, Mode, Policy, Protection, Rule};
use toolwright::retry::{CircuitBreaker, RetryPolicy};
use toolwright::{Call, CancellationToken, ErrorClass, Executor, Registry, ToolContext, ToolError};

use super::support::{
    Desk, EVEN, NOT_STARTED, Script, Step, again, said, until_tried, with_script,
};
use crate::calls::support::answered;
use crate::support::{answer, call, kind};

const BREAKER: CircuitBreaker = CircuitBreaker::new(2, Duration::from_secs(30));

/// Each call is one attempt.
fn guarded(script: &std::sync::Arc<Script>) -> Executor {
    with_script(script).retry(RetryPolicy::NONE).circuit_breaker(BREAKER).build().unwrap()
}

async fn kinds(executor: &Executor, times: usize) -> Vec<String> {
    let mut kinds = Vec::new();
    for _ in 0..times {
        kinds.push(kind(&executor.call(&again()).await));
    }
    kinds
}

#[tokio::test(start_paused = true)]
async fn it_opens_lets_one_through_and_closes() {
    let script = Script::fails(3, ErrorClass::Transient);
    let executor = guarded(&script);
    assert_eq!(kinds(&executor, 3).await, ["scripted", "scripted", "unavailable"]);
    tokio::time::sleep(Duration::from_secs(10)).await;
    let refused = executor.call(&again()).await;
    let left = Some(Duration::from_secs(20));
    assert_eq!(refused.error().unwrap().classified(), ErrorClass::NotStarted { retry_after: left });
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(kinds(&executor, 2).await, ["scripted", "unavailable"], "the trial failed");
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(kinds(&executor, 3).await, ["ok", "ok", "ok"]);
    assert_eq!(script.times(), 6);
}

/// They came while all was well.
#[tokio::test(start_paused = true)]
async fn calls_that_wait_for_a_place_are_not_let_through_when_it_has_opened_meanwhile() {
    let script = Script::of(vec![Step::Hang; 9]);
    let executor = with_script(&script)
        .retry(RetryPolicy::NONE)
        .circuit_breaker(BREAKER)
        .timeout(Some(Duration::from_secs(1)))
        .limit(1)
        .build()
        .unwrap();
    let call = again();
    let answers = futures::future::join_all((0..5).map(|_| executor.call(&call))).await;
    let kinds: Vec<_> = answers.iter().map(kind).collect();
    assert_eq!(kinds, ["timeout", "timeout", "unavailable", "unavailable", "unavailable"]);
    assert_eq!(script.times(), 2);
}

#[tokio::test(start_paused = true)]
async fn only_failures_of_the_tool_count() {
    for (step, counts) in [
        (Step::Fail(NOT_STARTED), true),
        (Step::Fail(ErrorClass::Transient), true),
        (Step::Hang, true),
        (Step::Panic, true),
        (Step::Fail(ErrorClass::Invalid), false),
        (Step::Fail(ErrorClass::Final), false),
        (Step::Fail(ErrorClass::Cancelled), false),
    ] {
        let script = Script::of(vec![step.clone(); 2]);
        let executor = guarded(&script);
        kinds(&executor, 2).await;
        assert_eq!(kinds(&executor, 1).await == ["unavailable"], counts, "{step:?}");
    }
}

/// Neither says that the tool works: it was not begun.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_refused_before_its_tool_begins_closes_nothing() {
    let script = Script::fails(9, ErrorClass::Transient);
    let forced = ArgumentTest::equals("\"no\"");
    let denied = Rule::deny("no").named("no").tool("scripted_word").argument("/word", forced);
    let policy = Policy::builder().mode(Mode::Unrestricted).without(Protection::ALL).rule(denied);
    let executor = Executor::builder(Registry::of([SPOKEN_TO]).unwrap())
        .policy(policy)
        .service_arc(std::sync::Arc::clone(&script))
        .retry(RetryPolicy::NONE)
        .circuit_breaker(BREAKER)
        .build()
        .unwrap();
    let say =
        async |arguments: &str| kind(&executor.call(&Call::new("scripted_word", arguments)).await);
    let (wrong, no, yes) = (r#"{"wrod":1}"#, r#"{"word":"no"}"#, r#"{"word":"yes"}"#);
    assert_eq!(say(yes).await, "scripted");
    assert_eq!([say(wrong).await, say(no).await], ["invalid_input", "denied"]);
    assert_eq!([say(yes).await, say(yes).await], ["scripted", "unavailable"]);
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!([say(wrong).await, say(no).await], ["invalid_input", "denied"]);
    assert_eq!([say(yes).await, say(yes).await], ["scripted", "unavailable"], "one trial");
}

/// Does what its script says.
#[toolwright::tool(name = "scripted_word", effect = idempotent)]
async fn spoken_to(
    script: &Script,
    context: &ToolContext,
    /// What to say.
    word: String,
) -> Result<String, ToolError> {
    drop(word);
    script.act(context).await
}

#[tokio::test(start_paused = true)]
async fn each_tool_has_its_own() {
    let script = Script::fails(2, ErrorClass::Transient);
    let executor = guarded(&script);
    assert_eq!(kinds(&executor, 3).await, ["scripted", "scripted", "unavailable"]);
    assert_eq!(kind(&executor.call(&call("scripted_read")).await), "ok");
}

#[tokio::test(start_paused = true)]
async fn a_pinned_catalog_finds_the_tool_as_it_was_left() {
    let script = Script::fails(2, ErrorClass::Transient);
    let executor = guarded(&script);
    kinds(&executor, 2).await;
    let pinned = executor.pinned(&executor.catalog());
    assert_eq!(kinds(&pinned, 1).await, ["unavailable"]);
}

#[tokio::test(start_paused = true)]
async fn a_trial_that_is_dropped_or_given_up_leaves_its_place_to_the_next() {
    for is_dropped in [true, false] {
        let failing = Step::Fail(ErrorClass::Transient);
        let script = Script::of([failing.clone(), failing, Step::Hang]);
        let executor = guarded(&script);
        kinds(&executor, 2).await;
        tokio::time::sleep(Duration::from_secs(30)).await;
        let token = CancellationToken::new();
        let mut trial = Box::pin(answer(&executor, again().cancelled_by(token.clone())));
        assert!(futures::poll!(&mut trial).is_pending());
        assert_eq!(kinds(&executor, 1).await, ["unavailable"], "one is inside");
        if is_dropped {
            drop(trial);
        } else {
            token.cancel();
            assert_eq!(kind(&trial.await), "cancelled");
        }
        assert_eq!(kinds(&executor, 1).await, ["ok"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_tool_is_left_alone_meanwhile_keeps_its_own_error() {
    let script = Script::fails(9, ErrorClass::Transient);
    let executor = with_script(&script).retry(EVEN.attempts(9)).circuit_breaker(BREAKER);
    assert_eq!(kinds(&executor.build().unwrap(), 1).await, ["scripted"]);
    assert_eq!(script.times(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_new_call_is_answered_at_once_and_not_recorded() {
    let desk = Desk::fails(1, ErrorClass::Transient);
    let breaker = CircuitBreaker::new(1, Duration::from_secs(30));
    let executor =
        desk.builder().retry(RetryPolicy::NONE).circuit_breaker(breaker).build().unwrap();
    answered(executor.submit(&again()).await);
    assert_eq!(kind(&answered(executor.submit(&again()).await)), "unavailable");
    assert_eq!(desk.record().await.attempt, 1, "there is one record, of the first call");
}

/// A call that the journal keeps has time, and waits until its tool is let through again.
#[tokio::test(start_paused = true)]
async fn a_kept_call_waits_until_its_tool_is_no_longer_left_alone() {
    let desk = Desk::fails(1, ErrorClass::Transient);
    let breaker = CircuitBreaker::new(1, Duration::from_secs(30));
    let executor = desk.builder().circuit_breaker(breaker).build().unwrap();
    let waiting = async { answered(executor.submit(&again()).await) };
    let meanwhile = async {
        until_tried(&desk.script, 1).await;
        tokio::time::sleep(Duration::from_secs(29)).await;
        (desk.script.times(), desk.executor().worker().unwrap().sweep().await.unwrap().is_nothing())
    };
    let (done, meanwhile) = tokio::join!(waiting, meanwhile);
    assert_eq!((done.text().as_ref(), meanwhile), ("done in attempt 2", (1, true)));
}

#[tokio::test(start_paused = true)]
async fn a_kept_call_waits_behind_a_breaker_that_never_closes_again() {
    let desk = Desk::fails(1, ErrorClass::Transient);
    let breaker = CircuitBreaker::new(1, Duration::MAX);
    let executor = desk.builder().circuit_breaker(breaker).build().unwrap();
    let outcome = executor.submit(&again()).await;
    let state = outcome.suspended().map(|it| it.state);
    assert_eq!((state, desk.script.times()), (Some(State::Ready), 1), "{outcome:?}");
}

#[test]
fn a_breaker_that_cannot_be_meant_is_told_by_the_builder() {
    let never = CircuitBreaker::new(0, Duration::from_secs(1));
    let error = with_script(&Script::of([])).circuit_breaker(never).build().unwrap_err();
    assert!(error.to_string().contains("0 failures"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_next_attempt_is_refused_keeps_the_error_of_its_tool() {
    let script = Script::fails(2, ErrorClass::Transient);
    let executor = with_script(&script).circuit_breaker(BREAKER).build().unwrap();
    let first = async { executor.call(&again()).await };
    // It fails while the first waits for its next attempt, and opens the circuit.
    let second = async {
        until_tried(&script, 1).await;
        executor.call(&again()).await
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!([said(&first), said(&second)], ["attempt 1 failed", "attempt 2 failed"]);
    assert_eq!((kind(&executor.call(&again()).await).as_str(), script.times()), ("unavailable", 2));
}
