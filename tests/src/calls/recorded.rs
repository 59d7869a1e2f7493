//! What acts is written down before it acts, and its result with its final state.

use toolwright::journal::State;
use toolwright::retry::RetryPolicy;
use toolwright::{Call, CallFailure, CallId, Outcome};

use super::odd::Odd;
use super::support::{a_refund, answered, office, path, suspended};
use crate::support::kind;

/// Invariant 6.
#[tokio::test]
async fn a_call_that_is_allowed_is_running_in_the_journal_before_it_runs() {
    let office = office();
    let answer =
        answered(office.executor().submit(&Call::new("kept_note", r#"{"text":"a"}"#)).await);
    assert_eq!(answer.text(), "a");
    let record = &office.records().await[0];
    assert_eq!(record.state, State::Succeeded);
    assert_eq!(path(&office.history(record.id).await), "judging → ready → running → succeeded");
    assert_eq!(record.answer.as_ref().unwrap().text, "a");
}

#[tokio::test]
async fn a_call_outside_of_turns_is_kept_as_well() {
    let office = office();
    let answer = office.executor().call(&Call::new("kept_note", r#"{"text":"a"}"#)).await;
    assert_eq!(answer.text(), "a");
    assert_eq!(office.records().await.len(), 1);
}

#[tokio::test]
async fn an_error_that_the_model_should_see_is_failed_and_no_dead_letter() {
    let office = office();
    let call = Call::new("kept_fail", r#"{"how":"ordinary"}"#);
    let answer = answered(office.executor().submit(&call).await);
    assert_eq!(kind(&answer), "wrong");
    assert_eq!(office.records().await[0].state, State::Failed);
}

/// A call that may have acted and must not be repeated waits for somebody to find out.
#[tokio::test]
async fn what_may_have_acted_and_must_not_repeat_is_indeterminate() {
    let office = office();
    for how in ["panic", "transient"] {
        let call = Call::new("kept_fail", format!(r#"{{"how":"{how}"}}"#));
        assert_eq!(suspended(office.executor().submit(&call).await).state, State::Indeterminate);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_out_of_time_is_indeterminate_or_dead_by_its_effect() {
    let office = office();
    let executor = office.builder().retry(RetryPolicy::NONE).build().unwrap();
    let once = suspended(executor.submit(&Call::new("kept_hang", "{}")).await);
    assert_eq!(once.state, State::Indeterminate);
    let again = answered(executor.submit(&Call::new("kept_hang_again", "{}")).await);
    assert_eq!(kind(&again), "timeout");
    assert_eq!(office.records().await[1].state, State::Dead);
}

#[tokio::test]
async fn reads_are_kept_where_they_are_asked_for() {
    let office = office();
    let executor = office.builder().journal(office.parking().record_reads()).build().unwrap();
    answered(executor.submit(&Call::new("kept_look", "{}")).await);
    assert_eq!(office.records().await[0].state, State::Succeeded);
}

/// A call that waits for a person does not hold up the end of the application; its one answer is that it will
/// not happen.
#[tokio::test(start_paused = true)]
async fn a_call_that_waits_is_ended_by_a_drain_and_a_suspended_one_is_not() {
    let office = office();
    let executor = office.executor();
    let suspended = suspended(executor.submit(&a_refund()).await).call;
    let waiting = tokio::spawn({
        let executor = executor.clone();
        async move { kind(&executor.call(&Call::new("kept_refund", r#"{"order":"B"}"#)).await) }
    });
    while office.records().await.len() < 2 {
        tokio::task::yield_now().await;
    }
    let drained = executor.drain(std::time::Duration::from_secs(5)).await;
    assert_eq!((drained.cancelled, waiting.await.unwrap().as_str()), (0, "shutting_down"));
    assert_eq!(office.state(suspended).await, State::Pending);
    assert_eq!(office.records().await[1].state, State::Cancelled);
}

#[tokio::test]
async fn input_that_is_wrong_is_answered_and_not_recorded() {
    let office = office();
    let answer = answered(office.executor().submit(&Call::new("kept_refund", "{}")).await);
    assert_eq!(kind(&answer), "invalid_input");
    assert!(office.records().await.is_empty());
}

/// Invariant 9.
#[tokio::test]
async fn the_tool_is_given_the_key_that_the_journal_knows() {
    let office = office();
    answered(office.executor().submit(&Call::new("kept_note", r#"{"text":"a"}"#)).await);
    let record = &office.records().await[0];
    assert_eq!(office.ran.all(), [format!("note a {}", record.idempotency_key)]);
}

/// A caller that goes away leaves a call that says so.
#[tokio::test]
async fn a_call_that_nobody_polls_any_more_says_so() {
    let office = office();
    let executor = office.executor();
    let call = Call::new("kept_hang", "{}");
    tokio::select! {
        biased;
        _ = executor.call(&call) => unreachable!(),
        () = async { while office.ran.times() == 0 { tokio::task::yield_now().await } } => {}
    }
    while office.records().await[0].state == State::Running {
        tokio::task::yield_now().await;
    }
    assert_eq!(office.records().await[0].state, State::Indeterminate);
}

/// Invariant 3: a store that fails has approved nothing.
#[tokio::test]
async fn a_call_that_cannot_be_recorded_is_not_run() {
    let office = office();
    let broken = Odd { fails_from: Some(1), ..Odd::default() };
    let executor = office.builder().journal(office.parking_in(broken)).build().unwrap();
    let outcome = executor.submit(&Call::new("kept_note", r#"{"text":"a"}"#)).await;
    assert!(matches!(outcome, Outcome::Failed(CallFailure::NotRecorded { .. })), "{outcome:?}");
    let answer = executor.call(&a_refund()).await;
    assert_eq!(kind(&answer), "journal_failed");
    assert_eq!(office.ran.times(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_result_that_cannot_be_recorded_is_told_to_the_host_and_is_no_success() {
    let office = office();
    let broken = Odd { fails_from: Some(2), ..Odd::default() };
    let executor = office.builder().journal(office.parking_in(broken)).build().unwrap();
    let outcome = executor.submit(&Call::new("kept_note", r#"{"text":"a"}"#)).await;
    let Outcome::Failed(failure @ CallFailure::ResultNotRecorded { .. }) = outcome else {
        panic!("{outcome:?}")
    };
    assert!(failure.to_string().contains("the disk is full"), "{failure}");
    assert_eq!(office.ran.times(), 1);
}

/// Invariant 17: what is recorded is given again, and nothing runs for it.
#[tokio::test]
async fn a_recorded_answer_is_given_again() {
    let office = office();
    answered(office.executor().submit(&Call::new("kept_note", r#"{"text":"a"}"#)).await);
    let id = office.records().await[0].id;
    assert_eq!(answered(office.executor().worker().unwrap().resume(id).await).text(), "a");
    assert_eq!(office.ran.times(), 1);
    assert!(!office.record(id).await.delivered);
    office.executor().worker().unwrap().acknowledge(id).await.unwrap();
    assert!(office.record(id).await.delivered);
}

#[tokio::test]
async fn a_call_that_the_journal_does_not_know_cannot_be_resumed() {
    let id: CallId = "0192f0c1-2f4e-7c3a-9d1e-5b6a7c8d9e0f".parse().unwrap();
    let outcome = office().executor().worker().unwrap().resume(id).await;
    assert!(matches!(outcome, Outcome::Failed(CallFailure::NoSuchCall(_))), "{outcome:?}");
}
