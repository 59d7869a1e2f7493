//! Promises that held against these attempts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use futures::future::BoxFuture;
use toolwright::approval::{
    ApprovalError, ApprovalRequest, Approver, ApproverError, Channel, GrantTerms, Reply, Statement,
};
use toolwright::journal::SealingKey;
use toolwright::journal::{
    CallRecord, CallWrite, Failure, Note, State, Store, Transaction, Transition,
};
use toolwright::{BuildProblem, Call, CallFailure, Outcome, Registry};

use super::super::odd::Odd;
use super::super::support::{Office, a_refund, answered, key, office, suspended, terms};
use super::tools::{FOR_RUN, OPEN, Panics, SEND, SLOW, Ticket, builder_of, killed, later};
use crate::support::kind;

/// As somebody would who can write to the journal.
async fn forge(office: &Office, change: impl FnOnce(&mut CallRecord)) {
    let mut record = office.records().await.remove(0);
    let expects = Some(record.version);
    change(&mut record);
    record.version += 1;
    let write = CallWrite { expects, record, entries: vec![] };
    let unit = Transaction { calls: vec![write], documents: vec![] };
    office.store.commit(unit, office.clock.now()).await.unwrap();
}

/// Invariant 1: the generation. Its tool says that the call did not happen, so it is another attempt at the same
/// digest, which a person has to approve again.
#[tokio::test]
async fn an_approval_of_one_generation_does_not_count_in_the_next() {
    let office = office();
    let executor = builder_of(&office, Registry::of([SEND]).unwrap())
        .timeout(Some(Duration::from_millis(20)))
        .build()
        .unwrap();
    let waits = suspended(executor.submit(&Call::new("kept_send", r#"{"what":"a"}"#)).await);
    office.approve(waits.call).await.unwrap();
    assert_eq!(
        suspended(executor.worker().unwrap().resume(waits.call).await).state,
        State::Indeterminate
    );
    assert_eq!(executor.worker().unwrap().sweep().await.unwrap().reconciled, 1);
    assert!(office.record(waits.call).await.decision.is_some());
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.state(waits.call).await, State::Pending);
    assert_eq!(office.ran.times(), 1);
}

#[tokio::test]
async fn a_reconciliation_that_panics_leaves_the_call_in_doubt() {
    let office = office();
    let executor = builder_of(&office, Registry::of([SEND]).unwrap())
        .timeout(Some(Duration::from_millis(20)))
        .build()
        .unwrap();
    let waits = suspended(executor.submit(&Call::new("kept_send", r#"{"what":"broken"}"#)).await);
    office.approve(waits.call).await.unwrap();
    executor.worker().unwrap().resume(waits.call).await;
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.state(waits.call).await, State::Indeterminate);
}

/// Invariant 15: Ada's public key is no secret; her signature is what counts.
#[tokio::test]
async fn a_signature_of_another_under_a_trusted_key_does_not_count() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&a_refund()).await);
    let statement = Statement::approve(&office.record(waits.call).await, "ada", office.clock.now());
    let mut forged = key("ada", 9).sign(&statement).unwrap();
    forged.key = office.ada.sign(&statement).unwrap().key;
    office.service().submit(forged, office.clock.now()).await.unwrap();
    assert_eq!(
        suspended(executor.worker().unwrap().resume(waits.call).await).state,
        State::Pending
    );
    assert_eq!(office.ran.times(), 0);
}

/// Invariant 1: on whose behalf.
#[tokio::test]
async fn a_call_that_was_put_to_another_user_is_not_run() {
    let office = office();
    let executor = office.executor().run("r").user("bob").start().unwrap();
    let waits = suspended(executor.submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    forge(&office, |record| record.requester.user = Some("eve".to_owned())).await;
    assert_eq!(kind(&answered(executor.worker().unwrap().resume(waits.call).await)), "refused");
    assert_eq!(office.ran.times(), 0);
}

/// Nobody approved it; its history is forged as well.
#[tokio::test]
async fn a_call_that_was_written_to_ready_without_a_decision_is_asked_about() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&a_refund()).await);
    let mut record = office.record(waits.call).await;
    let expects = Some(record.version);
    let note = Note { who: "ada".to_owned(), at: office.clock.now(), why: None, signed: None };
    let entries = vec![record.advance(Transition::Approved, note).unwrap()];
    let unit =
        Transaction { calls: vec![CallWrite { expects, record, entries }], documents: vec![] };
    office.store.commit(unit, office.clock.now()).await.unwrap();
    assert_eq!(
        suspended(executor.worker().unwrap().resume(waits.call).await).state,
        State::Pending
    );
    assert_eq!(office.ran.times(), 0);
}

/// An edit that the tool does not take, signed with the digest of the arguments as they were, approves nothing.
#[tokio::test]
async fn an_edit_that_is_not_taken_does_not_approve_the_arguments_before() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&a_refund()).await);
    let before = office.record(waits.call).await;
    let edit =
        Statement::edit(&before, r#"{"cents":0}"#, &before.digest, "ada", office.clock.now());
    office.say(edit).await.unwrap();
    assert_eq!(
        suspended(executor.worker().unwrap().resume(waits.call).await).state,
        State::Pending
    );
    assert_eq!(office.ran.times(), 0);
}

/// Invariant 3: whatever cannot be read, nothing runs.
#[tokio::test]
async fn an_approved_call_is_not_run_while_its_journal_cannot_be_read() {
    for unreadable in ["history", "document"] {
        let office = office();
        let waits = suspended(office.executor().submit(&a_refund()).await);
        office.approve(waits.call).await.unwrap();
        let inner = office.store.clone();
        let store = Odd { inner, unreadable: Some(unreadable), ..Odd::default() };
        let executor = office.builder().journal(office.parking_in(store)).build().unwrap();
        let outcome = executor.worker().unwrap().resume(waits.call).await;
        assert!(matches!(outcome, Outcome::Failed(CallFailure::NotRecorded { .. })), "{outcome:?}");
        assert_eq!(office.ran.times(), 0, "{unreadable}");
        assert_eq!(office.state(waits.call).await, State::Ready);
    }
}

#[tokio::test]
async fn nobody_is_asked_while_it_cannot_be_read_whether_they_said_no() {
    for unreadable in ["list", "documents"] {
        let office = office();
        let inner = office.store.clone();
        let store = Odd { inner, unreadable: Some(unreadable), ..Odd::default() };
        let executor = office.builder().journal(office.parking_in(store)).build().unwrap();
        let outcome = executor.submit(&a_refund()).await;
        assert!(matches!(outcome, Outcome::Failed(CallFailure::NotRecorded { .. })), "{outcome:?}");
        assert!(office.records().await.is_empty());
    }
}

/// Invariant 6, of a call that was approved.
#[tokio::test]
async fn an_approved_call_that_cannot_be_claimed_is_not_run() {
    let office = office();
    let waits = suspended(office.executor().submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    let store = Odd { inner: office.store.clone(), fails_at: Some(1), ..Odd::default() };
    let executor = office.builder().journal(office.parking_in(store)).build().unwrap();
    let outcome = executor.worker().unwrap().resume(waits.call).await;
    assert!(matches!(outcome, Outcome::Failed(CallFailure::NotRecorded { .. })), "{outcome:?}");
    assert_eq!(office.ran.times(), 0);
    assert_eq!(
        answered(executor.worker().unwrap().resume(waits.call).await).text(),
        "refunded 100 for A-1"
    );
}

#[tokio::test(start_paused = true)]
async fn a_result_is_recorded_at_the_second_try() {
    let office = office();
    let store = Odd { inner: office.store.clone(), fails_at: Some(2), ..Odd::default() };
    let executor = office.builder().journal(office.parking_in(store)).build().unwrap();
    let note = Call::new("kept_note", r#"{"text":"a"}"#);
    assert_eq!(answered(executor.submit(&note).await).text(), "a");
    assert_eq!(office.records().await[0].state, State::Succeeded);
    assert_eq!(office.ran.times(), 1);
}

/// Each claim raises the epoch; whoever renews with an earlier one is turned away.
#[tokio::test]
async fn a_call_that_is_begun_again_has_another_epoch_and_not_more_than_three_attempts() {
    let office = office();
    let executor = office.executor();
    let call = Call::new("kept_hang_again", "{}");
    killed(&office, {
        let executor = executor.clone();
        async move {
            executor.submit(&call).await;
        }
    });
    let id = office.records().await[0].id;
    for attempt in 1..=3 {
        let record = office.record(id).await;
        assert_eq!((record.attempt, record.epoch), (attempt, u64::from(attempt)));
        let earlier = u64::from(attempt) - 1;
        assert!(office.store.renew(id, earlier, office.clock.now()).await.is_err());
        office.clock.pass(Duration::from_secs(31));
        if attempt < 3 {
            let executor = executor.clone();
            killed(&office, async move {
                executor.worker().unwrap().resume(id).await;
            });
        }
    }
    assert_eq!(kind(&answered(executor.worker().unwrap().resume(id).await)), "owner_lost");
    assert_eq!(office.state(id).await, State::Dead);
    assert_eq!(office.ran.times(), 3);
}

/// Invariant 10, where nobody has swept yet.
#[tokio::test]
async fn a_decision_after_the_deadline_does_not_count_although_nobody_has_looked() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&a_refund()).await);
    office.clock.pass(Duration::from_secs(24 * 60 * 60));
    let error = office.approve(waits.call).await.unwrap_err();
    assert!(matches!(error, ApprovalError::Late { .. }), "{error}");
    assert_eq!(kind(&answered(executor.worker().unwrap().resume(waits.call).await)), "expired");
}

#[tokio::test]
async fn an_executor_that_shuts_down_begins_nothing_that_was_approved() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    let _ = executor.drain(Duration::from_secs(1)).await;
    assert_eq!(suspended(executor.worker().unwrap().resume(waits.call).await).state, State::Ready);
    assert_eq!(office.record(waits.call).await.epoch, 0, "it was not even claimed");
}

/// A grant without clauses covers no call with arguments, whoever signs it; one for another tool or version neither.
#[tokio::test]
async fn a_grant_is_for_its_arguments_and_its_tool_as_it_was() {
    type Change = fn(&mut GrantTerms);
    let changes: [(Change, bool); 3] = [
        (|terms| terms.arguments.clear(), true),
        (|terms| terms.tool = "kept_note".to_owned(), false),
        (|terms| terms.fingerprint = "00".to_owned(), false),
    ];
    for (change, is_taken) in changes {
        let office = office();
        let executor = office.executor();
        let waits = suspended(executor.submit(&a_refund()).await);
        let record = office.record(waits.call).await;
        let mut terms = terms(&record);
        change(&mut terms);
        let statement = Statement::approve_with_grant(&record, terms, "ada", office.clock.now());
        assert_eq!(office.say(statement).await.is_ok(), is_taken);
        suspended(executor.submit(&a_refund()).await);
        assert_eq!(office.ran.times(), 0);
    }
}

/// Mallory's key is not trusted, so what she grants is nothing.
#[tokio::test]
async fn a_grant_by_a_key_that_is_not_trusted_covers_nothing() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&a_refund()).await);
    let record = office.record(waits.call).await;
    let terms = terms(&record);
    let now = office.clock.now();
    let statement = Statement::approve_with_grant(&record, terms, "mallory", now);
    office.service().submit(key("mallory", 9).sign(&statement).unwrap(), now).await.unwrap();
    suspended(executor.submit(&a_refund()).await);
    suspended(executor.worker().unwrap().resume(waits.call).await);
    assert_eq!(office.ran.times(), 0);
}

#[tokio::test]
async fn a_secret_is_in_no_preview_and_in_no_history() {
    let office = office();
    let executor = builder_of(&office, Registry::of([OPEN]).unwrap())
        .journal(office.parking().sealing_key(SealingKey::from_bytes([7; 32])))
        .build()
        .unwrap();
    let waits = suspended(executor.submit(&Call::new("kept_open", r#"{"pin":"4711"}"#)).await);
    office.approve_unseen(waits.call).await.unwrap();
    executor.worker().unwrap().resume(waits.call).await;
    assert_eq!(office.ran.times(), 1);
    let kept = (office.record(waits.call).await, office.history(waits.call).await);
    let kept = serde_json::to_string(&kept).unwrap();
    // Ids, digests and sealed texts are hexadecimal, and may hold any four digits.
    for text in ["with 4711", "4711 broke"] {
        assert!(!kept.contains(text), "{kept}");
    }
}

/// Two executors with one sealing key digest alike, and no digest can be worked out without it.
#[tokio::test]
async fn the_digest_of_a_sealed_call_needs_the_key() {
    let office = office();
    let executor = office
        .builder()
        .journal(office.parking().sealing_key(SealingKey::from_bytes([7; 32])))
        .build()
        .unwrap();
    let call = Call::new("kept_sign_in", r#"{"site":"example.org","password":"x"}"#);
    let waits = suspended(executor.submit(&call).await);
    let record = office.record(waits.call).await;
    let canonical = r#"{"password":"x","site":"example.org"}"#;
    assert_ne!(record.digest, record.digest_with(canonical));
}

#[tokio::test]
async fn somebody_who_took_note_is_not_told_again() {
    let office = office();
    let (sender, mut requests) = tokio::sync::mpsc::channel(8);
    let executor = office.bare().approver(key("ada", 1), Channel::new(sender)).build().unwrap();
    suspended(executor.submit(&a_refund()).await);
    executor.worker().unwrap().sweep().await.unwrap();
    assert!(requests.try_recv().is_ok());
    assert!(requests.try_recv().is_err());
}

/// Counts how often it is asked, and thinks.
struct Counts(Arc<AtomicUsize>);

impl Approver for Counts {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Result<Reply, ApproverError>> {
        self.0.fetch_add(1, SeqCst);
        Box::pin(crate::support::forever())
    }
}

#[tokio::test]
async fn somebody_who_thinks_is_not_asked_the_same_again() {
    let office = office();
    let asked = Arc::new(AtomicUsize::new(0));
    let approver = Counts(Arc::clone(&asked));
    let executor = office.bare().approver(key("ada", 1), approver).build().unwrap();
    let call = a_refund();
    let mut submitting = Box::pin(executor.submit(&call));
    assert!(futures::poll!(&mut submitting).is_pending());
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(asked.load(SeqCst), 1);
}

/// Invariant 15.
#[tokio::test]
async fn a_journal_inside_a_workspace_is_refused() {
    let office = office();
    let file = Some(std::env::temp_dir().join("journal.sqlite"));
    let store = Odd { inner: office.store.clone(), file, ..Odd::default() };
    let built = office
        .builder()
        .journal(office.parking_in(store))
        .workspace_root(std::env::temp_dir())
        .build();
    let problems = built.unwrap_err().problems;
    assert!(matches!(problems[..], [BuildProblem::InWorkspace { .. }]), "{problems:?}");
}

/// Invariant 15: a key counts under the name that it is trusted by, and no other.
#[tokio::test]
async fn a_trusted_key_does_not_sign_in_the_name_of_another() {
    let office = office();
    let executor = office
        .builder()
        .journal(office.parking().trust("mallory", key("mallory", 9).public()))
        .build()
        .unwrap();
    let waits = suspended(executor.submit(&a_refund()).await);
    let now = office.clock.now();
    let statement = Statement::approve(&office.record(waits.call).await, "ada", now);
    // The key that is trusted as Mallory's, by whoever calls herself Ada.
    office.service().submit(key("ada", 9).sign(&statement).unwrap(), now).await.unwrap();
    assert_eq!(
        suspended(executor.worker().unwrap().resume(waits.call).await).state,
        State::Pending
    );
    assert_eq!(office.ran.times(), 0);
}

/// Invariant 14: the fingerprint is pinned.
#[tokio::test]
async fn a_grant_does_not_cover_a_later_version_of_its_tool() {
    let office = office();
    let waits = suspended(office.executor().submit(&a_refund()).await);
    let record = office.record(waits.call).await;
    let terms = terms(&record);
    let now = office.clock.now();
    office.say(Statement::approve_with_grant(&record, terms, "ada", now)).await.unwrap();
    let updated = builder_of(&office, Registry::of([later::REFUND]).unwrap()).build().unwrap();
    suspended(updated.submit(&a_refund()).await);
    assert_eq!(office.ran.times(), 0);
}

/// Invariant 8: the run's life, of a call that becomes ready after its run has ended.
#[tokio::test]
async fn a_call_of_an_ended_run_that_did_not_happen_is_cancelled() {
    let office = office();
    let run = office.executor().run("r").start().unwrap();
    let waits = suspended(run.submit(&Call::new("kept_fail", r#"{"how":"panic"}"#)).await);
    run.worker().unwrap().end_run(run.id()).await.unwrap();
    let record = office.record(waits.call).await;
    office.say(Statement::did_not_happen(&record, "ada", office.clock.now())).await.unwrap();
    office.executor().worker().unwrap().resume(waits.call).await;
    assert_eq!(office.state(waits.call).await, State::Cancelled);
    assert_eq!(office.ran.times(), 1);
}

/// Invariant 7: the result that comes after somebody else has found the call lost.
#[tokio::test]
async fn a_late_result_is_not_given_as_the_answer() {
    let office = office();
    let gate = Arc::new(tokio::sync::Notify::new());
    let executor = builder_of(&office, Registry::of([SLOW]).unwrap())
        .service_arc(Arc::clone(&gate))
        .build()
        .unwrap();
    let waits = suspended(executor.submit(&Call::new("kept_slow", "{}")).await);
    office.approve(waits.call).await.unwrap();
    let worker = executor.worker().unwrap();
    let mut late = Box::pin(worker.resume(waits.call));
    assert!(futures::poll!(&mut late).is_pending());
    office.clock.pass(Duration::from_secs(31));
    let mut record = office.record(waits.call).await;
    let expects = Some(record.version);
    let who = "executor:other".to_owned();
    let note = Note { who, at: office.clock.now(), why: None, signed: None };
    let (failure, effect) = (Failure::OwnerLost, record.effect);
    let event = Transition::Errored { failure, effect, exhausted: false };
    let entries = vec![record.advance(event, note).unwrap()];
    let unit =
        Transaction { calls: vec![CallWrite { expects, record, entries }], documents: vec![] };
    office.store.commit(unit, office.clock.now()).await.unwrap();
    gate.notify_waiters();
    assert_eq!(suspended(late.await).state, State::Indeterminate);
}

#[tokio::test]
async fn a_call_that_needs_what_its_caller_brought_is_left_ready_by_others() {
    let office = office();
    let executor =
        builder_of(&office, Registry::of([FOR_RUN]).unwrap()).per_call::<Ticket>().build().unwrap();
    let call = Call::new("kept_for_run", "{}").with(Ticket("T-1"));
    let waits = suspended(executor.submit(&call).await);
    office.approve(waits.call).await.unwrap();
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.state(waits.call).await, State::Ready);
    assert_eq!(office.ran.times(), 0);
}

#[tokio::test]
async fn an_approver_that_panics_before_it_gives_a_future_has_not_approved_and_harms_nobody() {
    let office = office();
    let journal = office.journal().trust("bob", key("bob", 2).public());
    let builder = office.bare().journal(journal).approver(key("ada", 1), Panics);
    let executor = builder.build().unwrap();
    let submitted = tokio::spawn(async move { executor.submit(&a_refund()).await });
    let waits = suspended(submitted.await.expect("the panic reached the host"));
    assert_eq!(waits.state, State::Pending);
}
