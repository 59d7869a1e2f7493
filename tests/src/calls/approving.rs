//! Decisions: bound to exactly one call, signed by somebody whose key counts, and counted once.

use std::sync::Arc;

use toolwright::approval::{ApprovalService, Callback, Response, Statement};
use toolwright::journal::{CallWrite, Note, State, Store, Transaction, Transition};
use toolwright::unstable::arguments::canonical;
use toolwright::{Call, CallFailure, ErrorClass, Outcome};

use super::support::{a_refund, answered, key, office, path, suspended};
use crate::support::kind;

/// S3.35, S3.36
#[tokio::test]
async fn an_approved_call_runs_once_whoever_resumes_it() {
    let office = office();
    let waits = suspended(office.executor().submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    let workers = [(); 3].map(|()| office.executor().worker().unwrap());
    let outcomes = futures::future::join_all(workers.iter().map(|it| it.resume(waits.call))).await;
    assert_eq!(office.ran.times(), 1);
    assert!(outcomes.into_iter().any(|it| it.answer().is_some()));
    let again = answered(office.executor().worker().unwrap().resume(waits.call).await);
    assert_eq!(again.text(), "refunded 100 for A-1");
    assert_eq!(office.ran.times(), 1);
}

/// Invariant 4.
#[tokio::test]
async fn the_same_decision_twice_is_the_recorded_one_and_another_is_told_who_won() {
    let office = office();
    let waits = suspended(office.executor().submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    office.approve(waits.call).await.unwrap();
    let error = office.reject(waits.call, "too late").await.unwrap_err();
    assert!(error.to_string().contains("ada"), "{error}");
    assert_eq!(office.state(waits.call).await, State::Ready);
}

/// Invariant 15: only keys that the builder was told count.
#[tokio::test]
async fn a_decision_by_a_key_that_is_not_trusted_runs_nothing_and_asks_again() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&a_refund()).await);
    let mallory = key("mallory", 9);
    let statement =
        Statement::approve(&office.record(waits.call).await, "mallory", office.clock.now());
    let signed = mallory.sign(&statement).unwrap();
    office.service().submit(signed, office.clock.now()).await.unwrap();
    assert_eq!(office.state(waits.call).await, State::Ready);
    let still = suspended(executor.worker().unwrap().resume(waits.call).await);
    assert_eq!(still.state, State::Pending);
    assert_eq!(office.ran.times(), 0);
    let history = office.history(waits.call).await;
    assert_eq!(path(&history), "judging → pending → ready → judging → pending");
    let why = history[3].why.as_deref().unwrap_or_default();
    assert!(why.contains("is not trusted"), "who approved wants to know: {why}");
}

/// Invariant 15: whoever says to be Ada needs Ada's key.
#[tokio::test]
async fn a_decision_in_the_name_of_another_does_not_count() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&a_refund()).await);
    let statement = Statement::approve(&office.record(waits.call).await, "ada", office.clock.now());
    let false_ada = key("ada", 9).sign(&statement).unwrap();
    office.service().submit(false_ada, office.clock.now()).await.unwrap();
    assert_eq!(
        suspended(executor.worker().unwrap().resume(waits.call).await).state,
        State::Pending
    );
    assert_eq!(office.ran.times(), 0);
}

/// Invariant 1: a decision names call, generation and digest.
#[tokio::test]
async fn the_approval_of_one_call_moves_no_other() {
    let office = office();
    let executor = office.executor();
    let one = suspended(executor.submit(&a_refund()).await).call;
    let other = suspended(executor.submit(&a_refund()).await).call;
    office.approve(one).await.unwrap();
    let decision = office.record(one).await.decision;
    // As somebody would who can write to the journal: the decision of one call is put to the other.
    let mut record = office.record(other).await;
    let expects = Some(record.version);
    let forger = Note { who: "ada".to_owned(), at: office.clock.now(), why: None, signed: None };
    let entries = vec![record.advance(Transition::Approved, forger).unwrap()];
    record.decision = decision;
    let unit =
        Transaction { calls: vec![CallWrite { expects, record, entries }], documents: vec![] };
    office.store.commit(unit, office.clock.now()).await.unwrap();
    assert_eq!(suspended(executor.worker().unwrap().resume(other).await).state, State::Pending);
    assert_eq!(office.ran.times(), 0);
}

/// Invariants 1 and 2: arguments that were changed after the decision are not run.
#[tokio::test]
async fn arguments_that_somebody_changed_in_the_journal_are_not_run() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    let mut record = office.record(waits.call).await;
    let expects = Some(record.version);
    record.arguments =
        toolwright::journal::StoredText::Plain(r#"{"order":"A-1","cents":99999}"#.to_owned());
    record.version += 1;
    let unit = Transaction {
        calls: vec![CallWrite { expects, record, entries: vec![] }],
        documents: vec![],
    };
    office.store.commit(unit, office.clock.now()).await.unwrap();
    let answer = answered(executor.worker().unwrap().resume(waits.call).await);
    assert_eq!(kind(&answer), "refused");
    assert_eq!(office.ran.times(), 0);
}

/// Invariant 2: whoever decides signs what they are shown.
#[tokio::test]
async fn a_call_that_shows_other_arguments_than_would_run_is_put_to_nobody() {
    let office = office();
    let waits = suspended(office.executor().submit(&a_refund()).await);
    let mut record = office.record(waits.call).await;
    assert_eq!(record.shows_what_is_judged(), Some(true));
    let expects = Some(record.version);
    let more = r#"{"order":"A-1","cents":99999}"#;
    record.arguments = toolwright::journal::StoredText::Plain(more.to_owned());
    record.digest = record.digest_with(&canonical(more).unwrap());
    record.version += 1;
    assert_eq!(record.shows_what_is_judged(), Some(false));
    // The digest may still be that of the arguments that are shown.
    record.digest = record.digest_with(&canonical(&record.shown).unwrap());
    assert_eq!(record.shows_what_is_judged(), Some(false));
    record.digest = record.digest_with(&canonical(more).unwrap());
    let unit = Transaction {
        calls: vec![CallWrite { expects, record, entries: vec![] }],
        documents: vec![],
    };
    office.store.commit(unit, office.clock.now()).await.unwrap();
    let approving = Callback::new(|_| Response::Approve);
    let executor = office.bare().approver(office.ada.clone(), approving).build().unwrap();
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.state(waits.call).await, State::Pending);
    assert_eq!(office.ran.times(), 0);
}

#[tokio::test]
async fn an_edit_is_judged_and_runs_without_asking_again() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&a_refund()).await);
    let before = office.record(waits.call).await;
    let edited = r#"{"order":"A-1","cents":50}"#;
    let of = before.digest_with(&canonical(edited).unwrap());
    office.say(Statement::edit(&before, edited, of, "ada", office.clock.now())).await.unwrap();
    let answer = answered(executor.worker().unwrap().resume(waits.call).await);
    assert_eq!(answer.text(), "refunded 50 for A-1");
    let after = office.record(waits.call).await;
    assert_eq!(after.generation, before.generation + 1);
    assert_ne!(after.idempotency_key, before.idempotency_key, "other arguments are another call");
    let path = path(&office.history(waits.call).await);
    assert_eq!(path, "judging → pending → judging → ready → running → succeeded");
}

#[tokio::test]
async fn an_edit_that_the_tool_does_not_take_is_asked_again_about_what_was() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&a_refund()).await);
    let before = office.record(waits.call).await;
    let edited = r#"{"order":"A-1","cents":0}"#;
    let of = before.digest_with(&canonical(edited).unwrap());
    office.say(Statement::edit(&before, edited, of, "ada", office.clock.now())).await.unwrap();
    let again = suspended(executor.worker().unwrap().resume(waits.call).await);
    assert_eq!(again.state, State::Pending);
    let request = again.request.unwrap();
    assert_eq!(request.arguments, r#"{"order":"A-1","cents":100}"#);
    assert!(request.reason.contains("the edit was not taken"), "{}", request.reason);
    assert_eq!(office.ran.times(), 0);
}

/// An edit whose signed digest is that of other arguments than proposed does not pass as approved.
#[tokio::test]
async fn an_edit_that_signs_another_digest_is_asked_again_with_its_own_arguments() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&a_refund()).await);
    let before = office.record(waits.call).await;
    let edited = r#"{"order":"A-1"}"#;
    // The default is missing, so this is the digest of arguments that would never run.
    let of = before.digest_with(&canonical(edited).unwrap());
    office.say(Statement::edit(&before, edited, of, "ada", office.clock.now())).await.unwrap();
    let again = suspended(executor.worker().unwrap().resume(waits.call).await);
    assert_eq!(again.request.unwrap().arguments, r#"{"order":"A-1","cents":100}"#);
    assert_eq!(office.ran.times(), 0);
}

/// Invariant 16.
#[tokio::test]
async fn who_decided_when_and_why_is_in_the_history() {
    let office = office();
    let executor = office.executor().run("ticket-7").user("bob").start().unwrap();
    let waits = suspended(executor.submit(&a_refund()).await);
    let record = office.record(waits.call).await;
    assert_eq!(record.requester.agent, "agent:ticket-7");
    assert_eq!(record.requester.user.as_deref(), Some("bob"));
    office.approve(waits.call).await.unwrap();
    let history = office.history(waits.call).await;
    let decided = history.last().unwrap();
    assert_eq!((decided.who.as_str(), decided.at), ("ada", office.clock.now()));
    assert_eq!(decided.digest, record.digest);
    assert!(decided.signed.is_some());
    assert_eq!(history.iter().map(|entry| entry.number).collect::<Vec<_>>(), [1, 2, 3]);
}

/// Invariant 12: the resolver supplies the result of a call that nobody knows of.
#[tokio::test]
async fn a_person_says_what_became_of_an_indeterminate_call() {
    let office = office();
    let executor = office.executor();
    let outcome = executor.submit(&Call::new("kept_fail", r#"{"how":"panic"}"#)).await;
    let waits = suspended(outcome);
    assert_eq!(waits.state, State::Indeterminate);
    let record = office.record(waits.call).await;
    let now = office.clock.now();
    office.say(Statement::happened(&record, "it was sent", "ada", now)).await.unwrap();
    assert_eq!(answered(executor.worker().unwrap().resume(waits.call).await).text(), "it was sent");
    assert_eq!(office.ran.times(), 1);
}

/// Invariant 15: a result in the name of somebody who is not trusted is no result.
#[tokio::test]
async fn a_result_that_a_stranger_supplies_is_told_to_nobody() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&Call::new("kept_fail", r#"{"how":"panic"}"#)).await);
    let record = office.record(waits.call).await;
    let statement = Statement::happened(&record, "all is well", "mallory", office.clock.now());
    let signed = key("mallory", 9).sign(&statement).unwrap();
    office.service().submit(signed, office.clock.now()).await.unwrap();
    let outcome = executor.worker().unwrap().resume(waits.call).await;
    assert!(matches!(outcome, Outcome::Failed(CallFailure::NotVouched { .. })), "{outcome:?}");
}

#[tokio::test]
async fn a_call_that_did_not_happen_is_judged_again_and_run() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&Call::new("kept_fail", r#"{"how":"panic"}"#)).await);
    let record = office.record(waits.call).await;
    office.say(Statement::did_not_happen(&record, "ada", office.clock.now())).await.unwrap();
    // It panics once more.
    assert_eq!(
        suspended(executor.worker().unwrap().resume(waits.call).await).state,
        State::Indeterminate
    );
    assert_eq!(office.ran.times(), 2);
    assert_eq!(office.record(waits.call).await.generation, 2);
}

#[tokio::test]
async fn an_unknown_failure_of_a_call_that_must_not_repeat_is_indeterminate_for_a_caller_too() {
    let office = office();
    let answer = office.executor().call(&Call::new("kept_fail", r#"{"how":"panic"}"#)).await;
    assert_eq!(kind(&answer), "indeterminate");
    assert_eq!(answer.error().unwrap().classified(), ErrorClass::Unknown);
}

/// Approve against approve, reject and edit, by many tasks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_decide_at_once_one_wins_and_the_call_runs_at_most_once() {
    for round in 0..30 {
        let office = office();
        let executor = office.executor();
        let waits = suspended(executor.submit(&a_refund()).await);
        let record = office.record(waits.call).await;
        let service = Arc::new(ApprovalService::new(Arc::new(office.store.clone())));
        let now = office.clock.now();
        let mut deciding = tokio::task::JoinSet::new();
        for task in 0..8 {
            let statement = match (task + round) % 2 {
                0 => Statement::approve(&record, "ada", now),
                _ => Statement::reject(&record, Some(format!("task {task}")), "ada", now),
            };
            let (signed, service) = (office.ada.sign(&statement).unwrap(), Arc::clone(&service));
            deciding.spawn(async move { service.submit(signed, now).await.is_ok() });
        }
        let mut resuming = tokio::task::JoinSet::new();
        for _ in 0..3 {
            let executor = executor.clone();
            resuming.spawn(async move {
                executor.worker().unwrap().resume(waits.call).await.answer().is_some()
            });
        }
        deciding.join_all().await;
        resuming.join_all().await;
        let answer = answered(executor.worker().unwrap().wait(waits.call).await);
        let state = office.state(waits.call).await;
        match state {
            State::Succeeded => assert_eq!(office.ran.times(), 1),
            State::Rejected => assert_eq!(office.ran.times(), 0),
            state => panic!("{state}: {}", answer.text()),
        }
    }
}
