//! What each statement does to a call, and what a late one is told.

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright::approval::{
    ApprovalError, ApprovalRequest, ApprovalService, Decision, Statement, Subject,
};
use toolwright::journal::{
    CallRecord, CommitError, DocumentWrite, MemoryStore, State, Store, Transaction, Transition,
};

use super::scene::{at, call_of, happens, journal, pending, service, signed};

async fn one() -> (MemoryStore, CallRecord) {
    let record = pending(1);
    (journal([record.clone()]).await, record)
}

/// A call that ran, and nobody knows what became of it.
fn indeterminate() -> CallRecord {
    pending(1).with(|it| {
        it.state = State::Indeterminate;
        it.attempt = 1;
        it.epoch = 1;
    })
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn what_an_earlier_release_asked_is_for_a_person_and_not_for_a_reviewer() {
    let mut record = serde_json::to_value(pending(1)).expect("JSON");
    let request = |record: &Value| {
        let record = serde_json::from_value(record.clone()).expect("a record");
        ApprovalRequest::of(&record).expect("it waits")
    };
    assert!(!request(&record).person);
    record["ask"].as_object_mut().and_then(|ask| ask.remove("reviewable")).expect("written");
    assert!(request(&record).person);
}

#[tokio::test]
async fn an_approved_call_is_ready_and_keeps_what_was_signed() {
    let (store, record) = one().await;
    let approval = signed(&Statement::approve(&record, "ada", at(5)));
    let submitted = service(&store).submit(approval.clone(), at(9)).await.expect("approved");
    assert_eq!((submitted.who.as_str(), submitted.at), ("ada", at(9)));
    assert_eq!((submitted.to, submitted.repeated), (Some(State::Ready), false));
    assert_eq!(submitted.verdict, Decision::Approve { grant: None });

    let now = call_of(&store, record.id).await;
    assert_eq!((now.state, now.version, now.generation), (State::Ready, 2, 1));
    assert_eq!((now.decision.as_ref(), now.answer.is_none()), (Some(&approval), true));
    let history = store.history(record.id).await.expect("a history");
    let entry = history.last().expect("an entry");
    assert_eq!(
        (entry.who.as_str(), entry.at, entry.event),
        ("ada", at(9), Some(Transition::Approved))
    );
    assert_eq!((entry.signed.as_ref(), &entry.digest), (Some(&approval), &record.digest));
}

#[tokio::test]
async fn an_edited_call_is_judged_again_with_the_new_arguments() {
    let (store, record) = one().await;
    let arguments = r#"{"to":"bob@example.org"}"#;
    let edit = signed(&Statement::edit(&record, arguments, "d1b", "ada", at(5)));
    service(&store).submit(edit.clone(), at(5)).await.expect("edited");
    let now = call_of(&store, record.id).await;
    assert_eq!((now.state, now.generation), (State::Judging, 2));
    assert_eq!((now.proposal.as_deref(), now.decision), (Some(arguments), Some(edit)));
    let history = store.history(record.id).await.expect("a history");
    assert_eq!(history.last().expect("an entry").digest, record.digest);
}

#[tokio::test]
async fn what_is_no_object_is_not_taken_for_arguments() {
    let (store, record) = one().await;
    for arguments in ["", "[]", "null", r#"{"to":"a","to":"b"}"#, "{to: 1}", r#"{"to":"hunter2""#] {
        let edit = signed(&Statement::edit(&record, arguments, "d1b", "ada", at(5)));
        let error = service(&store).submit(edit, at(5)).await.expect_err("no arguments");
        assert!(matches!(error, ApprovalError::Arguments { .. }), "{arguments}: {error}");
        assert!(!format!("{error:?} {error}").contains("hunter2"), "{error:?}");
    }
    assert_eq!(call_of(&store, record.id).await, record);
}

#[tokio::test]
async fn a_rejected_call_answers_the_model_with_the_reason() {
    let (store, record) = one().await;
    let reject = Statement::reject(&record, Some("ask legal first".to_owned()), "ada", at(5));
    service(&store).submit(signed(&reject), at(5)).await.expect("rejected");
    let now = call_of(&store, record.id).await;
    assert_eq!(now.state, State::Rejected);
    let answer = now.answer.expect("an answer");
    let hint = "do not make the same call again: do what the reason says, or go on without it";
    let message = "a person rejected this call: ask legal first";
    assert!(answer.is_error);
    assert_eq!(
        json_of(&answer.text),
        json!({"is_error": true, "error_type": "rejected", "message": message, "next_action_hint": hint})
    );
    assert_eq!(
        answer.whole,
        json!({"error": {"kind": "rejected", "class": "final", "message": message, "hint": hint}})
    );
    let history = store.history(record.id).await.expect("a history");
    assert_eq!(history.last().expect("an entry").why.as_deref(), Some("ask legal first"));
}

#[tokio::test]
async fn a_call_that_happened_is_answered_with_the_result_that_a_person_gives() {
    let cases = [
        ("sent", json!({"text": "sent"})),
        ("42", json!({"text": "42"})),
        (r#"{"id":9007199254740993.0}"#, json!({"json": r#"{"id":9007199254740993.0}"#})),
        ("[1]", json!({"json": "[1]"})),
        ("{", json!({"text": "{"})),
    ];
    for (result, whole) in cases {
        let store = journal([indeterminate()]).await;
        let happened = Statement::happened(&indeterminate(), result, "ada", at(5));
        service(&store).submit(signed(&happened), at(5)).await.expect("recorded");
        let now = call_of(&store, indeterminate().id).await;
        let answer = now.answer.expect("an answer");
        assert_eq!((now.state, answer.is_error), (State::Succeeded, false));
        assert_eq!((answer.text.as_str(), answer.whole), (result, whole));
    }
}

#[tokio::test]
async fn a_call_that_did_not_happen_is_judged_again_and_no_earlier_decision_is_left() {
    let mut record = indeterminate();
    record.decision = Some(signed(&Statement::approve(&record, "ada", at(1))));
    let store = journal([record.clone()]).await;
    let statement = Statement::did_not_happen(&record, "bob", at(5));
    service(&store).submit(signed(&statement), at(5)).await.expect("recorded");
    let now = call_of(&store, record.id).await;
    assert_eq!((now.state, now.generation, now.decision), (State::Judging, 2, None));
}

#[tokio::test]
async fn the_same_statement_gives_what_was_recorded_whatever_became_of_the_call() {
    let (store, record) = one().await;
    let approval = signed(&Statement::approve(&record, "ada", at(5)));
    let first = service(&store).submit(approval.clone(), at(5)).await.expect("approved");
    // The same verdict by the same key, said a second time in other words.
    let anew = signed(&Statement::approve(&record, "ada", at(6)));
    let before = call_of(&store, record.id).await;
    for again in [&approval, &anew] {
        let second = service(&store).submit(again.clone(), at(7)).await.expect("approved before");
        assert!(second.repeated);
        assert_eq!((second.who, second.at, second.to), (first.who.clone(), first.at, first.to));
    }
    assert_eq!(call_of(&store, record.id).await, before);
    assert!(happens(&store, record.id, Transition::Changed, at(8)).await);
    let third = service(&store).submit(approval, at(9)).await.expect("approved before");
    assert_eq!((third.at, third.to), (at(5), Some(State::Ready)));
}

#[tokio::test]
async fn another_decision_is_told_who_won_when_and_what_they_decided() {
    let (store, record) = one().await;
    service(&store)
        .submit(signed(&Statement::approve(&record, "ada", at(5))), at(5))
        .await
        .expect("approved");
    let mine = [
        Statement::reject(&record, None, "ada", at(6)),
        Statement::approve(&record, "bob", at(6)),
        Statement::edit(&record, "{}", "d", "bob", at(6)),
    ];
    for statement in mine {
        let error = service(&store).submit(signed(&statement), at(6)).await.expect_err("too late");
        assert_eq!(
            error.to_string(),
            format!(
                "call {} was approved by \"ada\" at {}, and is ready now: this decision came too late",
                record.id,
                at(5)
            )
        );
    }
}

#[tokio::test]
async fn what_comes_after_an_edit_is_told_of_the_edit() {
    let (store, record) = one().await;
    service(&store)
        .submit(signed(&Statement::edit(&record, "{}", "d", "ada", at(5))), at(5))
        .await
        .expect("edited");
    let error = service(&store)
        .submit(signed(&Statement::approve(&record, "bob", at(6))), at(6))
        .await
        .expect_err("too late");
    let ApprovalError::Decided { who, verdict, state, .. } = error else { panic!("{error}") };
    assert_eq!(
        (who.as_str(), verdict.to_string().as_str(), state),
        ("ada", "edited", State::Judging)
    );
}

#[tokio::test]
async fn a_decision_on_a_call_that_is_over_is_told_what_became_of_it() {
    for (event, told) in [
        (Transition::Expired, "was expired by \"executor:one\""),
        (Transition::RunEnded, "was ended with its run by \"executor:one\""),
    ] {
        let (store, record) = one().await;
        assert!(happens(&store, record.id, event, at(4)).await);
        let approval = signed(&Statement::approve(&record, "ada", at(3)));
        let error = service(&store).submit(approval, at(5)).await.expect_err("over");
        assert!(matches!(error, ApprovalError::Elsewhere { .. }), "{error}");
        let error = error.to_string();
        assert!(error.contains(told) && error.contains("cannot be approved"), "{error}");
    }
}

#[tokio::test]
async fn a_decision_on_an_older_generation_is_told_what_moved_the_call_on() {
    let record = pending(1).with(|it| it.state = State::Ready);
    let store = journal([record.clone()]).await;
    assert!(happens(&store, record.id, Transition::Changed, at(2)).await);
    assert!(happens(&store, record.id, Transition::Asked, at(3)).await);
    let approval = signed(&Statement::approve(&record, "ada", at(4)));
    let error = service(&store).submit(approval, at(5)).await.expect_err("an older generation");
    assert_eq!(
        error.to_string(),
        format!(
            "the statement is about generation 1 of call {}, which is at generation 2 (judged again by \
             \"executor:one\" at {}): show the call again, and decide on what is shown",
            record.id,
            at(2)
        )
    );
    let now = call_of(&store, record.id).await;
    assert_eq!((now.state, now.decision.is_none()), (State::Pending, true));
}

#[tokio::test]
async fn nothing_is_decided_after_the_deadline_though_nobody_has_recorded_that_it_expired() {
    let (store, record) = one().await;
    let deadline = record.ask.as_ref().expect("an ask").deadline;
    for statement in
        [Statement::approve(&record, "ada", at(0)), Statement::reject(&record, None, "ada", at(0))]
    {
        let error = service(&store).submit(signed(&statement), deadline).await.expect_err("late");
        assert_eq!(error, ApprovalError::Late { call: record.id, deadline });
    }
    assert_eq!(call_of(&store, record.id).await, record);
}

#[tokio::test]
async fn what_cannot_be_said_of_a_call_or_grant_is_refused() {
    let (store, record) = one().await;
    let revoke =
        Statement { verdict: Decision::Revoke, ..Statement::approve(&record, "ada", at(1)) };
    let about = Subject::Grant { id: "g".to_owned() };
    let approve = Statement { about, ..Statement::approve(&record, "ada", at(1)) };
    for statement in [revoke, approve] {
        let error = service(&store).submit(signed(&statement), at(1)).await.expect_err("nonsense");
        assert!(matches!(error, ApprovalError::Subject { .. }), "{error}");
    }
    let early = Statement::happened(&record, "sent", "ada", at(1));
    let error = service(&store).submit(signed(&early), at(1)).await.expect_err("it waits");
    assert!(error.to_string().ends_with("a call that is pending cannot be found to have happened"));
    let other = Statement::approve(&pending(2), "ada", at(1));
    let error = service(&store).submit(signed(&other), at(1)).await.expect_err("no such call");
    assert_eq!(error, ApprovalError::UnknownCall { call: pending(2).id });
    assert_eq!(call_of(&store, record.id).await, record);
}

#[tokio::test]
async fn a_desk_that_trusts_nobody_leaves_the_signature_to_the_executor() {
    let (store, record) = one().await;
    let approval = signed(&Statement::approve(&record, "eve", at(1)));
    let service = ApprovalService::new(Arc::new(store.clone()));
    assert!(service.submit(approval.clone(), at(1)).await.is_ok());
    assert_eq!(call_of(&store, record.id).await.decision, Some(approval));
}

#[tokio::test]
async fn a_grant_document_in_the_way_is_no_endless_loop() {
    let (store, record) = one().await;
    let id = toolwright::approval::Grant::id_of(record.id, 1);
    let key = toolwright::approval::Grant::key(&record.tool, &id);
    let write = DocumentWrite { key, expects: None, text: Some("{}".to_owned()) };
    let unit = Transaction { calls: Vec::new(), documents: vec![write] };
    let committed: Result<(), CommitError> = store.commit(unit, at(0)).await;
    committed.expect("a document");
    let approval = Statement::approve_with_grant(&record, super::scene::terms(), "ada", at(1));
    let error = service(&store).submit(signed(&approval), at(1)).await.expect_err("never free");
    assert!(matches!(error, ApprovalError::Busy { .. }), "{error}");
    assert_eq!(call_of(&store, record.id).await, record);
}
