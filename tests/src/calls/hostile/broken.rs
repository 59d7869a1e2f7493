//! Promises that were not kept when these tests were written.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolwright::approval::{Callback, Channel, GrantTerms, Response, Scope, Statement};
use toolwright::journal::SealingKey;
use toolwright::journal::State;
use toolwright::unstable::arguments::canonical;
use toolwright::{Call, CallFailure, DynamicTool, ErrorClass, Outcome, Registry, ToolEventKind};

use super::super::odd::Odd;
use super::super::support::{a_refund, answered, key, office, suspended, terms};
use super::tools::{
    After, CHARGE, ERR, FOR_RUN, GUARD, HANG_FOR_RUN, LOGIN, SLOW, Second, Thinks, Ticket, UNLOCK,
    builder_of, gone, killed, later,
};
use crate::support::kind;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const HOUR: Duration = Duration::from_secs(60 * 60);

fn a_note(text: &str) -> Call<'static> {
    Call::new("kept_note", format!(r#"{{"text":"{text}"}}"#))
}

async fn settle_down() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

// Run twice, or run although it was answered.

/// A `once` call is run again only by the word of somebody whose key counts.
#[tokio::test]
async fn that_a_call_did_not_happen_counts_only_by_a_trusted_key() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&Call::new("kept_fail", r#"{"how":"panic"}"#)).await);
    let record = office.record(waits.call).await;
    let now = office.clock.now();
    let signed =
        key("mallory", 9).sign(&Statement::did_not_happen(&record, "mallory", now)).unwrap();
    let _ = office.service().submit(signed, now).await;
    executor.worker().unwrap().resume(waits.call).await;
    assert_eq!(office.ran.times(), 1);
}

/// Invariant 9: the key changes only with the arguments.
#[tokio::test]
async fn the_key_stays_when_the_tool_is_described_in_other_words() {
    let office = office();
    let before = builder_of(&office, Registry::of([CHARGE]).unwrap()).build().unwrap();
    gone(&office, before, Call::new("kept_charge", "{}")).await;
    office.clock.pass(Duration::from_secs(31));
    let after = builder_of(&office, Registry::of([later::CHARGE]).unwrap()).build().unwrap();
    after.worker().unwrap().sweep().await.unwrap();
    let ran = office.ran.all();
    assert_eq!(ran.len(), 2);
    assert_eq!(ran[0], ran[1], "charged twice");
}

/// `NotStarted` says that nothing happened and that the call may be made again.
#[tokio::test]
async fn what_is_answered_as_not_started_in_a_drain_is_not_run_later() {
    let office = office();
    let executor = office.executor();
    let _ = executor.drain(Duration::from_secs(1)).await;
    let answer = executor.call(&a_note("a")).await;
    assert_eq!(kind(&answer), "shutting_down");
    assert_eq!(answer.error().unwrap().classified(), ErrorClass::NotStarted { retry_after: None });
    office.executor().worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.ran.times(), 0);
}

/// The same of a call that waited for a person.
#[tokio::test(start_paused = true)]
async fn what_waits_in_a_drain_is_not_answered_as_not_started_and_run_later() {
    let office = office();
    let executor = office.executor();
    let waiting = tokio::spawn({
        let executor = executor.clone();
        async move { executor.call(&a_refund()).await }
    });
    while office.records().await.is_empty() {
        tokio::task::yield_now().await;
    }
    let _ = executor.drain(Duration::from_secs(5)).await;
    let class = waiting.await.unwrap().error().unwrap().classified();
    let id = office.records().await[0].id;
    let _ = office.approve(id).await;
    office.executor().worker().unwrap().sweep().await.unwrap();
    let is_not_started = class == ErrorClass::NotStarted { retry_after: None };
    assert!(!is_not_started || office.ran.times() == 0, "answered as not begun, and run");
}

/// A commit can stand without its caller having heard: the executor looks, and asks about the call that is there.
#[tokio::test]
async fn a_call_whose_record_stands_after_a_store_that_lied_is_asked_about_once_and_runs_once() {
    let office = office();
    let store = Odd { inner: office.store.clone(), lies_at: Some(1), ..Odd::default() };
    let executor = office.builder().journal(office.parking_in(store)).build().unwrap();
    let waits = suspended(executor.submit(&a_refund()).await);
    assert_eq!(office.records().await.len(), 1);
    office.approve(waits.call).await.unwrap();
    let answer = answered(executor.worker().unwrap().resume(waits.call).await);
    assert_eq!((answer.text().as_ref(), office.ran.times()), ("refunded 100 for A-1", 1));
}

/// A kind is the tool's own word; only the executor can be shutting down. Its class is its word as well, so it is tried
/// again when its time has come, which it has not.
#[tokio::test(start_paused = true)]
async fn a_tool_that_says_shutting_down_is_not_run_again_for_it() {
    let office = office();
    let executor = builder_of(&office, Registry::of([ERR]).unwrap()).build().unwrap();
    executor.submit(&Call::new("kept_err", r#"{"error":"shutting_down"}"#)).await;
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.ran.times(), 1);
}

/// An error without a class is final: the model reads it.
#[tokio::test]
async fn a_tool_that_says_timeout_by_itself_has_failed() {
    let office = office();
    let executor = builder_of(&office, Registry::of([ERR]).unwrap()).build().unwrap();
    executor.submit(&Call::new("kept_err", r#"{"error":"timeout"}"#)).await;
    assert_eq!(office.records().await[0].state, State::Failed);
}

// The run's life, deadlines, scopes.

#[tokio::test]
async fn a_run_that_has_ended_begins_no_new_call() {
    let office = office();
    let run = office.executor().run("r").start().unwrap();
    run.worker().unwrap().end_run(run.id()).await.unwrap();
    run.submit(&a_note("a")).await;
    assert_eq!(office.ran.times(), 0);
}

#[tokio::test]
async fn nobody_is_asked_about_a_call_of_a_run_that_has_ended() {
    let office = office();
    let run = office.executor().run("r").start().unwrap();
    run.worker().unwrap().end_run(run.id()).await.unwrap();
    run.submit(&a_refund()).await;
    assert!(office.records().await.iter().all(|it| it.state != State::Pending));
}

/// Invariant 8: the deadline is looked at again at the claim.
#[tokio::test]
async fn an_approval_does_not_count_for_ever() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    office.clock.pass(DAY * 30);
    executor.worker().unwrap().resume(waits.call).await;
    assert_eq!(office.ran.times(), 0);
}

/// Invariant 14: a grant counts in the call's session, not in that of whoever resumes it.
#[tokio::test]
async fn a_grant_of_a_session_does_not_cover_a_call_of_another_that_is_resumed_in_it() {
    let office = office();
    let executor = office.executor();
    let here = executor.run("r1").session("s1").start().unwrap();
    let there = executor.run("r2").session("s2").start().unwrap();
    let first = suspended(here.submit(&a_refund()).await);
    let record = office.record(first.call).await;
    let terms = GrantTerms { scope: Scope::Session("s1".to_owned()), ..terms(&record) };
    let now = office.clock.now();
    office.say(Statement::approve_with_grant(&record, terms, "ada", now)).await.unwrap();
    let other = suspended(there.submit(&a_refund()).await);
    let statement = Statement::approve(&office.record(other.call).await, "mallory", now);
    office.service().submit(key("mallory", 9).sign(&statement).unwrap(), now).await.unwrap();
    here.worker().unwrap().resume(other.call).await;
    assert_eq!(office.ran.times(), 0);
}

/// Many calls at once under one grant: none fails because the others are faster.
#[tokio::test]
async fn a_grant_without_a_number_covers_many_calls_at_once() {
    let office = office();
    let first = suspended(office.executor().submit(&a_refund()).await);
    let record = office.record(first.call).await;
    let terms = terms(&record);
    let now = office.clock.now();
    office.say(Statement::approve_with_grant(&record, terms, "ada", now)).await.unwrap();
    let store = Odd { inner: office.store.clone(), slow_documents: true, ..Odd::default() };
    let executor = office.builder().journal(office.parking_in(store)).build().unwrap();
    let call = a_refund();
    let outcomes = futures::future::join_all((0..40).map(|_| executor.submit(&call))).await;
    let failed = outcomes.iter().filter(|it| matches!(it, Outcome::Failed(_))).count();
    assert_eq!(failed, 0);
}

// Never begun, and yet nobody knows.

#[tokio::test]
async fn a_call_that_was_cancelled_before_it_began_is_cancelled() {
    let office = office();
    let token = CancellationToken::new();
    token.cancel();
    office.executor().submit(&a_note("a").cancelled_by(token)).await;
    assert_eq!(office.ran.times(), 0);
    assert_eq!(office.records().await[0].state, State::Cancelled);
}

#[tokio::test]
async fn a_call_that_was_dropped_while_it_waited_for_a_place_is_cancelled() {
    let office = office();
    let executor = office.builder().limit(1).build().unwrap();
    let (hanging, waiting) = (Call::new("kept_hang", "{}"), a_note("a"));
    let mut holds = Box::pin(executor.submit(&hanging));
    assert!(futures::poll!(&mut holds).is_pending());
    let mut waits = Box::pin(executor.submit(&waiting));
    assert!(futures::poll!(&mut waits).is_pending());
    drop(waits);
    settle_down().await;
    assert_eq!(office.ran.all(), ["hang"]);
    assert_eq!(office.records().await[1].state, State::Cancelled);
}

/// Whoever is killed leaves no more calls in doubt than it could have begun.
#[tokio::test]
async fn no_more_calls_are_claimed_than_there_are_places() {
    let office = office();
    let executor = builder_of(&office, Registry::of([SLOW]).unwrap())
        .service(tokio::sync::Notify::new())
        .limit(1)
        .build()
        .unwrap();
    for _ in 0..5 {
        let waits = suspended(executor.submit(&Call::new("kept_slow", "{}")).await);
        office.approve(waits.call).await.unwrap();
    }
    let worker = executor.worker().unwrap();
    let mut working = Box::pin(worker.work());
    for _ in 0..20 {
        assert!(futures::poll!(&mut working).is_pending());
        settle_down().await;
    }
    assert_eq!(office.ran.times(), 1);
    let records = office.records().await;
    assert_eq!(records.iter().filter(|it| it.state == State::Running).count(), 1);
}

// Approvers.

#[tokio::test(start_paused = true)]
async fn a_drain_does_not_wait_for_somebody_who_thinks() {
    let office = office();
    let executor = office.bare().approver(key("ada", 1), Thinks).build().unwrap();
    let _waiting = tokio::spawn({
        let executor = executor.clone();
        async move { executor.call(&a_refund()).await }
    });
    while office.records().await.is_empty() {
        tokio::task::yield_now().await;
    }
    let drained = timeout(HOUR, executor.drain(Duration::from_secs(5))).await;
    assert!(drained.is_ok(), "an hour later it still waits");
}

#[tokio::test(start_paused = true)]
async fn a_call_can_be_cancelled_while_somebody_thinks() {
    let office = office();
    let executor = office.bare().approver(key("ada", 1), Thinks).build().unwrap();
    let token = CancellationToken::new();
    let call = a_refund().cancelled_by(token.clone());
    let calling = timeout(HOUR, executor.call(&call));
    let cancelling = async {
        while office.records().await.is_empty() {
            tokio::task::yield_now().await;
        }
        token.cancel();
    };
    let (answer, ()) = futures::future::join(calling, cancelling).await;
    assert_eq!(kind(&answer.expect("an hour later it still waits")), "cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_decision_from_elsewhere_counts_while_somebody_thinks() {
    let office = office();
    let executor = office.bare().approver(key("ada", 1), Thinks).build().unwrap();
    let call = a_refund();
    let calling = timeout(HOUR, executor.call(&call));
    let deciding = async {
        while office.records().await.is_empty() {
            tokio::task::yield_now().await;
        }
        office.approve(office.records().await[0].id).await.unwrap();
    };
    let (answer, ()) = futures::future::join(calling, deciding).await;
    assert_eq!(kind(&answer.expect("an hour later it still waits")), "ok");
}

/// Invariant 11.
#[tokio::test(start_paused = true)]
async fn a_sibling_that_asks_nobody_does_not_wait_for_somebody_who_thinks() {
    let office = office();
    let approver = After(Arc::clone(&office.ran));
    let executor = office.bare().approver(key("ada", 1), approver).build().unwrap();
    let calls = [a_refund(), a_note("a")];
    let run = executor.run("r").start().unwrap();
    let turn = timeout(HOUR, run.submit_turn(1, &calls)).await;
    assert!(turn.is_ok(), "an hour later the second call still waits for the first");
}

#[tokio::test(start_paused = true)]
async fn who_waits_sees_to_it_that_somebody_is_told_again() {
    let office = office();
    let journal = office.journal().trust("bob", key("bob", 2).public());
    let builder = office.bare().journal(journal).approver(key("ada", 1), Second::default());
    let executor = builder.build().unwrap();
    let call = a_refund();
    let answer = timeout(HOUR, executor.call(&call)).await;
    assert_eq!(kind(&answer.expect("an hour later nobody was told again")), "ok");
}

/// What is in a channel is gone with its process.
#[tokio::test]
async fn after_a_restart_people_are_told_again() {
    let office = office();
    let (sender, _lost) = tokio::sync::mpsc::channel(8);
    let before = office.bare().approver(key("ada", 1), Channel::new(sender)).build().unwrap();
    suspended(before.submit(&a_refund()).await);
    let (sender, mut requests) = tokio::sync::mpsc::channel(8);
    let after = office.bare().approver(key("ada", 1), Channel::new(sender)).build().unwrap();
    after.worker().unwrap().sweep().await.unwrap();
    assert!(requests.try_recv().is_ok());
}

// Stranded.

/// Invariant 10: to expire, a call needs no tool.
#[tokio::test]
async fn a_call_whose_tool_is_gone_expires() {
    let office = office();
    let waits = suspended(office.executor().submit(&a_refund()).await);
    office.clock.pass(DAY);
    builder_of(&office, Registry::empty())
        .build()
        .unwrap()
        .worker()
        .unwrap()
        .sweep()
        .await
        .unwrap();
    assert_eq!(office.state(waits.call).await, State::Expired);
}

#[tokio::test]
async fn a_call_that_needs_its_run_expires_when_the_run_is_gone() {
    let office = office();
    let executor =
        builder_of(&office, Registry::of([FOR_RUN]).unwrap()).per_run::<Ticket>().build().unwrap();
    let run = executor.run("r").with(Ticket("T-1")).start().unwrap();
    let waits = suspended(run.submit(&Call::new("kept_for_run", "{}")).await);
    office.clock.pass(DAY);
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.state(waits.call).await, State::Expired);
}

#[tokio::test]
async fn a_call_that_needs_its_run_is_found_lost_when_the_run_is_gone() {
    let office = office();
    let executor = builder_of(&office, Registry::of([HANG_FOR_RUN]).unwrap())
        .per_run::<Ticket>()
        .build()
        .unwrap();
    let run = executor.run("r").with(Ticket("T-1")).start().unwrap();
    killed(&office, async move {
        run.submit(&Call::new("kept_hang_for_run", "{}")).await;
    });
    let id = office.records().await[0].id;
    office.clock.pass(Duration::from_secs(31));
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.state(id).await, State::Indeterminate);
}

fn remote(name: &str) -> Option<DynamicTool> {
    let tool = DynamicTool::new(
        name,
        "Does something far away.",
        json!({"type": "object"}),
        |_, _| async { Ok("done".to_owned()) },
    );
    Some(tool.approval("it is far away"))
}

#[tokio::test]
async fn an_approved_call_of_a_resolvers_tool_goes_on_after_a_restart() {
    let office = office();
    let start = || builder_of(&office, Registry::empty()).resolver(remote).build().unwrap();
    let waits = suspended(start().submit(&Call::new("far_away", "{}")).await);
    office.approve(waits.call).await.unwrap();
    assert_eq!(answered(start().worker().unwrap().resume(waits.call).await).text(), "done");
}

#[tokio::test(start_paused = true)]
async fn an_edited_call_goes_on_with_what_its_caller_brought() {
    let office = office();
    let executor =
        builder_of(&office, Registry::of([FOR_RUN]).unwrap()).per_call::<Ticket>().build().unwrap();
    let call = Call::new("kept_for_run", "{}").with(Ticket("T-1"));
    let editing = async {
        while office.records().await.is_empty() {
            tokio::task::yield_now().await;
        }
        let record = office.records().await.remove(0);
        let edited = r#"{"what":2}"#;
        let of = record.digest_with(&canonical(edited).unwrap());
        office.say(Statement::edit(&record, edited, of, "ada", office.clock.now())).await.unwrap();
    };
    let (answer, ()) = futures::future::join(executor.call(&call), editing).await;
    assert_eq!(answer.text(), "T-1");
    assert_eq!(office.ran.all(), ["for run 2"]);
}

/// The approver's clock is an hour ahead.
#[tokio::test]
async fn a_decision_by_a_clock_that_is_ahead_is_acted_on() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&a_refund()).await);
    let ahead = office.clock.now().checked_add(HOUR).unwrap();
    let statement = Statement::approve(&office.record(waits.call).await, "ada", ahead);
    office.service().submit(office.ada.sign(&statement).unwrap(), ahead).await.unwrap();
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.ran.times(), 1);
}

/// A result that is there is not lost because nobody waits for it any more.
#[tokio::test]
async fn a_call_that_is_dropped_while_its_result_is_written_is_not_left_running() {
    let office = office();
    let store = Odd { inner: office.store.clone(), slow_commits: true, ..Odd::default() };
    let executor = office.builder().journal(office.parking_in(store)).build().unwrap();
    let call = a_note("a");
    tokio::select! {
        biased;
        _ = executor.call(&call) => unreachable!(),
        () = async { while office.ran.times() == 0 { tokio::task::yield_now().await } } => {}
    }
    settle_down().await;
    assert_ne!(office.records().await[0].state, State::Running);
}

/// A process without the key leaves the call to one that has it.
#[tokio::test]
async fn a_worker_without_the_key_does_not_end_a_sealed_call_that_was_approved() {
    let office = office();
    let sealed = office
        .builder()
        .journal(office.parking().sealing_key(SealingKey::from_bytes([7; 32])))
        .build()
        .unwrap();
    let call = Call::new("kept_sign_in", r#"{"site":"example.org","password":"x"}"#);
    let waits = suspended(sealed.submit(&call).await);
    office.approve_unseen(waits.call).await.unwrap();
    office.executor().worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.state(waits.call).await, State::Ready);
}

/// What was begun is not answered as if it had not been.
#[tokio::test]
async fn a_lost_call_with_a_secret_that_was_not_kept_is_not_told_not_to_have_run() {
    let office = office();
    let executor = builder_of(&office, Registry::of([GUARD]).unwrap()).build().unwrap();
    let id = gone(&office, executor.clone(), Call::new("kept_guard", r#"{"pin":"4711"}"#)).await;
    office.clock.pass(Duration::from_secs(31));
    executor.worker().unwrap().sweep().await.unwrap();
    let answer = answered(executor.worker().unwrap().resume(id).await);
    assert!(!answer.text().contains("was not run"), "{}", answer.text());
}

// Turns.

/// Without its raw arguments, a call is still known by its digest.
#[tokio::test]
async fn another_call_with_a_secret_at_the_same_place_does_not_get_the_answer_of_the_first() {
    let office = office();
    let executor = builder_of(&office, Registry::of([LOGIN]).unwrap()).build().unwrap();
    let run = executor.run("r").start().unwrap();
    run.submit_turn(1, &[Call::new("kept_login", r#"{"pin":"1111"}"#)]).await;
    let outcome =
        run.submit_turn(1, &[Call::new("kept_login", r#"{"pin":"2222"}"#)]).await.remove(0);
    assert!(matches!(outcome, Outcome::Failed(CallFailure::PlaceTaken { .. })), "{outcome:?}");
}

/// Invariant 11: checked as a whole before anything changes.
#[tokio::test]
async fn a_turn_that_contradicts_the_journal_runs_nothing() {
    let office = office();
    let run = office.executor().run("r").start().unwrap();
    run.submit_turn(1, &[Call::new("kept_look", "{}"), a_note("a")]).await;
    let before = office.ran.times();
    run.submit_turn(1, &[a_note("b"), a_note("c")]).await;
    assert_eq!(office.ran.times(), before);
}

// Secrets.

/// Whoever reads the journal could otherwise try all pins.
#[tokio::test]
async fn a_digest_without_a_key_is_no_way_to_guess_a_secret() {
    let office = office();
    let executor = builder_of(&office, Registry::of([LOGIN]).unwrap()).build().unwrap();
    executor.submit(&Call::new("kept_login", r#"{"pin":"4711"}"#)).await;
    let record = office.records().await.remove(0);
    let guess = (0..10_000).find(|pin| {
        let arguments = format!(r#"{{"pin":"{pin:04}"}}"#);
        record.digest_with(&arguments) == record.digest
    });
    assert_eq!(guess, None);
}

#[tokio::test]
async fn an_edit_of_a_call_with_a_secret_is_not_taken() {
    let office = office();
    let approver = Callback::new(|_| {
        Response::Edit(r#"{"site":"example.org","password":"battery staple"}"#.to_owned())
    });
    let executor = office
        .bare()
        .approver(key("ada", 1), approver)
        .journal(
            office
                .journal()
                .trust("bob", key("bob", 2).public())
                .sealing_key(SealingKey::from_bytes([7; 32])),
        )
        .build()
        .unwrap();
    let call = Call::new("kept_sign_in", r#"{"site":"example.org","password":"x"}"#);
    let waits = suspended(executor.submit(&call).await);
    let record = office.record(waits.call).await;
    let kept = serde_json::to_string(&(&record, office.history(record.id).await)).unwrap();
    assert!(!kept.contains("battery staple"));
    assert_eq!((record.state, office.ran.times()), (State::Pending, 0));
}

#[tokio::test]
async fn an_edit_of_a_call_with_secrets_is_neither_kept_nor_told() {
    let office = office();
    let sealed = office
        .builder()
        .journal(office.parking().sealing_key(SealingKey::from_bytes([7; 32])))
        .build()
        .unwrap();
    let call = Call::new("kept_sign_in", r#"{"site":"example.org","password":"x"}"#);
    let waits = suspended(sealed.submit(&call).await);
    let record = office.record(waits.call).await;
    let edited = r#"{"site":"example.org","password":"battery staple"}"#;
    let edit = Statement::edit(&record, edited, "00", "ada", office.clock.now());
    let error = office.say(edit).await.unwrap_err();
    let kept =
        serde_json::to_string(&(office.record(waits.call).await, office.history(record.id).await));
    let shown = format!("{error} {error:?} {}", kept.unwrap());
    assert!(!shown.contains("battery staple"), "{shown}");
}

/// An approver is shown `"(secret)"` and sends it back with what they changed.
#[tokio::test]
async fn the_word_that_stands_for_a_secret_is_not_given_to_the_tool() {
    let office = office();
    let approver = Callback::new(|request: &toolwright::approval::ApprovalRequest| {
        Response::Edit(request.arguments.replace("example.org", "example.com"))
    });
    let executor = office
        .bare()
        .approver(key("ada", 1), approver)
        .journal(office.journal().sealing_key(SealingKey::from_bytes([7; 32])))
        .build()
        .unwrap();
    let call = Call::new("kept_sign_in", r#"{"site":"example.org","password":"correct horse"}"#);
    executor.submit(&call).await;
    assert!(!office.ran.all().contains(&"sign in example.com 8".to_owned()));
}

#[tokio::test]
async fn an_error_that_repeats_a_secret_is_kept_sealed() {
    let office = office();
    let executor = builder_of(&office, Registry::of([LOGIN]).unwrap())
        .journal(office.parking().sealing_key(SealingKey::from_bytes([7; 32])))
        .build()
        .unwrap();
    executor.submit(&Call::new("kept_login", r#"{"pin":"9999"}"#)).await;
    let record = office.records().await.remove(0);
    let kept = serde_json::to_string(&(&record.answer, office.history(record.id).await)).unwrap();
    assert!(!kept.contains("9999 is not"), "{kept}");
}

#[tokio::test]
async fn a_reason_that_repeats_a_secret_is_not_shown() {
    let office = office();
    let executor = builder_of(&office, Registry::of([UNLOCK]).unwrap())
        .journal(office.parking().sealing_key(SealingKey::from_bytes([7; 32])))
        .build()
        .unwrap();
    let waits = suspended(executor.submit(&Call::new("kept_unlock", r#"{"pin":"4711"}"#)).await);
    let reason = waits.request.unwrap().reason;
    assert!(!reason.contains("4711"), "{reason}");
}

// Work without end, and what nobody hears of.

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_cancelled_caller_does_not_spin_while_another_runs_its_call() {
    let office = Arc::new(office());
    let store = Odd { inner: office.store.clone(), is_deaf: true, ..Odd::default() };
    let gets = Arc::clone(&store.gets);
    let gate = Arc::new(tokio::sync::Notify::new());
    let build =
        || builder_of(&office, Registry::of([SLOW]).unwrap()).service_arc(Arc::clone(&gate));
    let caller = build().journal(office.parking_in(store)).build().unwrap();
    let token = CancellationToken::new();
    let call = Call::new("kept_slow", "{}").cancelled_by(token.clone());
    let calling = tokio::spawn(async move { caller.call(&call).await });
    while office.records().await.is_empty() {
        tokio::task::yield_now().await;
    }
    let id = office.records().await[0].id;
    office.approve(id).await.unwrap();
    let other = build().build().unwrap();
    let running = tokio::spawn(async move { other.worker().unwrap().resume(id).await });
    while office.ran.times() == 0 {
        tokio::task::yield_now().await;
    }
    token.cancel();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let spent = gets.load(SeqCst);
    gate.notify_waiters();
    running.await.unwrap();
    calling.await.unwrap();
    assert!(spent < 1000, "it read the call {spent} times");
}

#[tokio::test]
async fn calls_that_only_a_person_can_clear_up_cost_a_sweep_nothing() {
    let office = office();
    let store = Odd { inner: office.store.clone(), ..Odd::default() };
    let listed = Arc::clone(&store.listed);
    let executor = office.builder().journal(office.parking_in(store)).build().unwrap();
    for _ in 0..300 {
        suspended(executor.submit(&Call::new("kept_fail", r#"{"how":"panic"}"#)).await);
    }
    listed.store(0, SeqCst);
    for _ in 0..3 {
        executor.worker().unwrap().sweep().await.unwrap();
    }
    assert_eq!(listed.load(SeqCst), 0);
}

#[tokio::test]
async fn a_lease_of_no_time_is_refused_by_the_builder() {
    assert!(office().builder().journal(office().parking().lease(Duration::ZERO)).build().is_err());
}

/// "A call that is suspended starts again when somebody goes on with it."
#[tokio::test]
async fn listeners_hear_of_a_call_that_is_resumed() {
    let office = office();
    let heard = Arc::new(Mutex::new(0));
    let count = Arc::clone(&heard);
    let executor = office
        .builder()
        .listen(move |event| {
            if matches!(event.kind, ToolEventKind::Completed { .. }) {
                *count.lock().unwrap() += 1;
            }
        })
        .build()
        .unwrap();
    let waits = suspended(executor.submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    answered(executor.worker().unwrap().resume(waits.call).await);
    assert_eq!(*heard.lock().unwrap(), 1);
}

/// Invariant 16: when.
#[tokio::test]
async fn the_time_when_a_call_was_given_up_is_that_when_it_was_given_up() {
    let office = office();
    let executor = office.executor();
    let call = Call::new("kept_hang", "{}");
    let mut calling = Box::pin(executor.submit(&call));
    assert!(futures::poll!(&mut calling).is_pending());
    office.clock.pass(Duration::from_secs(20));
    drop(calling);
    settle_down().await;
    let id = office.records().await[0].id;
    assert_eq!(office.history(id).await.last().unwrap().at, office.clock.now());
}

/// Invariant 2: the report is that of what runs.
#[tokio::test]
async fn after_an_edit_the_report_of_repairs_is_not_that_of_the_arguments_before() {
    let office = office();
    let executor = office.executor();
    let call = Call::new("kept_refund", r#"{"order":"A-1","cents":"250"}"#);
    let waits = suspended(executor.submit(&call).await);
    let record = office.record(waits.call).await;
    let edited = r#"{"order":"A-1","cents":50}"#;
    let of = record.digest_with(&canonical(edited).unwrap());
    office.say(Statement::edit(&record, edited, of, "ada", office.clock.now())).await.unwrap();
    answered(executor.worker().unwrap().resume(waits.call).await);
    assert!(office.record(waits.call).await.repairs.is_empty());
}

/// A use that was taken for a call that did not begin is no use.
#[tokio::test]
async fn a_call_that_is_turned_away_in_a_drain_uses_up_no_grant() {
    let office = office();
    let executor = office.executor();
    let first = suspended(executor.submit(&a_refund()).await);
    let record = office.record(first.call).await;
    let terms = GrantTerms { uses: Some(1), ..terms(&record) };
    let now = office.clock.now();
    office.say(Statement::approve_with_grant(&record, terms, "ada", now)).await.unwrap();
    let _ = executor.drain(Duration::from_secs(1)).await;
    executor.submit(&a_refund()).await;
    assert_eq!(office.ran.times(), 0);
    assert_eq!(office.service().grants(None).await.unwrap().readable[0].used, 0);
}
