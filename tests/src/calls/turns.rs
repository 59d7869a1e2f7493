//! The calls of a turn, each with one answer.

use std::sync::Arc;
use std::time::Duration;

use toolwright::approval::{ApprovalRequest, Callback, Response};
use toolwright::journal::State;
use toolwright::{Call, CallFailure, CallId, Outcome, ToolError, tool};

use super::odd::Odd;
use super::support::{a_refund, answered, key, office, suspended};
use crate::support::{builder, kind};

fn a_note(text: &str) -> Call<'static> {
    Call::new("kept_note", format!(r#"{{"text":"{text}"}}"#))
}

/// S3.38: of a batch in which two calls ask, the first is decided, the rest is processed, and the run pauses again for the
/// second; what has run does not run again.
#[tokio::test]
async fn a_batch_pauses_again_after_the_first_decision() {
    let office = office();
    let another = || Call::new("kept_refund", r#"{"order":"B-2"}"#);
    let calls = [a_note("a"), a_refund(), another(), a_note("b")];
    let run = || office.executor().run("r").start().unwrap();
    let waiting = |outcomes: Vec<Outcome>| -> Vec<Option<CallId>> {
        outcomes
            .into_iter()
            .map(|it| matches!(it, Outcome::Suspended(_)).then(|| suspended(it).call))
            .collect()
    };
    let first = waiting(run().submit_turn(1, &calls).await);
    let [None, Some(one), Some(two), None] = first[..] else { panic!("{first:?}") };
    assert_eq!(office.ran.times(), 2);

    office.approve(one).await.unwrap();
    let second = waiting(run().submit_turn(1, &calls).await);
    assert_eq!(second, [None, None, Some(two), None], "it pauses for the other");
    assert_eq!(office.ran.times(), 3);
    assert_eq!(waiting(run().submit_turn(1, &calls).await), second, "and goes on pausing");

    office.approve(two).await.unwrap();
    let outcomes = run().submit_turn(1, &calls).await;
    let texts: Vec<_> = outcomes.into_iter().map(|it| answered(it).text().into_owned()).collect();
    assert_eq!(texts, ["a", "refunded 100 for A-1", "refunded 100 for B-2", "b"]);
    assert_eq!(office.ran.times(), 4);
}

/// S3.38; invariant 11: a sibling that needs no approval neither waits nor asks. Somebody is asked when the siblings
/// have run, about each call that asks, one after the other.
#[tokio::test]
async fn siblings_of_a_call_that_waits_are_answered() {
    let office = office();
    let ran = Arc::clone(&office.ran);
    let approver = Callback::new(move |request: &ApprovalRequest| {
        ran.add(format!("ask {}", request.arguments));
        Response::Approve
    });
    let executor = office.bare().approver(key("ada", 1), approver).build().unwrap();
    let another = Call::new("kept_refund", r#"{"order":"B-2"}"#);
    let calls = [a_refund(), a_note("a"), another, a_note("b")];
    let outcomes = executor.run("r").start().unwrap().submit_turn(1, &calls).await;
    let texts: Vec<_> = outcomes.into_iter().map(|it| answered(it).text().into_owned()).collect();
    assert_eq!(texts, ["refunded 100 for A-1", "a", "refunded 100 for B-2", "b"]);
    let expected = [
        "note a ",
        "note b ",
        r#"ask {"order":"A-1","cents":100}"#,
        "refund A-1 100",
        r#"ask {"order":"B-2","cents":100}"#,
        "refund B-2 100",
    ];
    let ran = office.ran.all();
    assert_eq!(ran.len(), expected.len(), "{ran:?}");
    assert!(ran.iter().zip(expected).all(|(ran, begins)| ran.starts_with(begins)), "{ran:?}");
}

/// S3.38: where no approver can be asked now, the siblings have their answers all the same.
#[tokio::test]
async fn a_call_that_stays_suspended_keeps_no_answer_from_its_siblings() {
    let office = office();
    let executor = office.executor();
    let calls = [a_note("a"), a_refund(), a_note("b")];
    let outcomes = executor.run("r").start().unwrap().submit_turn(1, &calls).await;
    let texts: Vec<_> =
        outcomes.into_iter().map(|it| it.answer().map(|it| it.text().into_owned())).collect();
    assert_eq!(texts, [Some("a".to_owned()), None, Some("b".to_owned())]);
    assert_eq!(office.ran.times(), 2);
}

/// Invariants 11 and 12: after a restart the same turn is made again.
#[tokio::test]
async fn the_same_turn_again_runs_nothing_twice_and_gives_every_answer() {
    let office = office();
    let calls = [a_note("a"), a_refund(), a_note("b")];
    let run = || office.executor().run("r").start().unwrap();
    let first = run().submit_turn(1, &calls).await;
    let waits = suspended(first.into_iter().nth(1).unwrap()).call;
    office.approve(waits).await.unwrap();
    let again = run().submit_turn(1, &calls).await;
    let texts: Vec<_> = again.into_iter().map(|it| answered(it).text().into_owned()).collect();
    assert_eq!(texts, ["a", "refunded 100 for A-1", "b"]);
    assert_eq!(office.ran.times(), 3);
}

#[tokio::test]
async fn a_turn_that_has_other_calls_than_the_journal_knows_is_told_so() {
    let office = office();
    let run = office.executor().run("r").start().unwrap();
    run.submit_turn(1, &[a_note("a")]).await;
    let outcome = run.submit_turn(1, &[a_note("b")]).await.remove(0);
    assert!(matches!(outcome, Outcome::Failed(CallFailure::PlaceTaken { .. })), "{outcome:?}");
    answered(run.submit_turn(2, &[a_note("b")]).await.remove(0));
}

/// Invariant 12.
#[tokio::test]
async fn a_provider_id_repeated_in_a_turn_is_refused_without_running() {
    let office = office();
    let calls = [a_note("a").id("x"), a_note("b").id("x"), a_note("c").id("y"), a_note("d")];
    let outcomes = office.executor().run("r").start().unwrap().submit_turn(1, &calls).await;
    let kinds: Vec<_> = outcomes.into_iter().map(|it| kind(&answered(it))).collect();
    assert_eq!(kinds, ["ok", "repeated_call_id", "ok", "ok"]);
    assert_eq!(office.ran.times(), 3);
}

/// S3.38: several calls in one batch may each pause.
#[tokio::test]
async fn each_call_of_a_turn_waits_for_its_own_decision() {
    let office = office();
    let executor = office.executor();
    let calls = [a_refund(), Call::new("kept_refund", r#"{"order":"B-2"}"#)];
    let run = executor.run("r").start().unwrap();
    let waits: Vec<_> =
        run.submit_turn(1, &calls).await.into_iter().map(|it| suspended(it).call).collect();
    office.approve(waits[1]).await.unwrap();
    office.reject(waits[0], "no").await.unwrap();
    assert_eq!(kind(&answered(run.worker().unwrap().resume(waits[0]).await)), "rejected");
    assert_eq!(
        answered(run.worker().unwrap().resume(waits[1]).await).text(),
        "refunded 100 for B-2"
    );
    assert_eq!(office.state(waits[0]).await, State::Rejected);
}

/// Takes as long as it is told to, and then says its word.
#[tool(name = "turn_say_after", effect = read)]
async fn say_after(
    /// Milliseconds.
    wait: u64,
    /// What.
    word: String,
) -> Result<String, ToolError> {
    tokio::time::sleep(Duration::from_millis(wait)).await;
    if word == "fail" { Err(ToolError::new("failed", "as told")) } else { Ok(word) }
}

#[tokio::test(start_paused = true)]
async fn without_a_journal_the_answers_come_in_the_order_of_the_calls() {
    let executor = builder([SAY_AFTER]).build().unwrap();
    let say = |wait: u64, word: &str| {
        Call::new("turn_say_after", format!(r#"{{"wait":{wait},"word":"{word}"}}"#))
    };
    let calls = [
        say(30, "slow").id("1"),
        say(0, "fail").id("2"),
        say(0, "quick").id("3"),
        Call::new("turn_say", "{}"),
        say(20, "twice").id("1"),
        say(10, "last"),
    ];
    let outcomes = executor.run("r").start().unwrap().submit_turn(1, &calls).await;
    let texts: Vec<String> = outcomes
        .into_iter()
        .map(|outcome| {
            let answer = answered(outcome);
            if answer.is_error() { kind(&answer) } else { answer.text().into_owned() }
        })
        .collect();
    assert_eq!(texts, ["slow", "failed", "quick", "unknown_tool", "repeated_call_id", "last"]);
}

#[tokio::test]
async fn a_call_that_is_recorded_and_rejected_elsewhere_while_it_is_looked_at_has_one_answer() {
    let office = office();
    let (lists, lists_now) = tokio::sync::watch::channel(false);
    let store = Odd { inner: office.store.clone(), lists: Some(lists_now), ..Odd::default() };
    let run = office
        .builder()
        .journal(office.parking_in(store))
        .build()
        .unwrap()
        .run("run-1")
        .start()
        .unwrap();
    let late = tokio::spawn(async move { run.submit_turn(1, &[a_refund()]).await.remove(0) });
    // It has found nothing at its place, and asks whether a person rejected the same call.
    while lists.receiver_count() < 2 {
        tokio::task::yield_now().await;
    }
    let run = office.executor().run("run-1").start().unwrap();
    let waits = suspended(run.submit_turn(1, &[a_refund()]).await.remove(0));
    office.reject(waits.call, "no").await.unwrap();
    lists.send_replace(true);
    let first = answered(run.submit_turn(1, &[a_refund()]).await.remove(0));
    assert_eq!(answered(late.await.unwrap()).text(), first.text());
}
