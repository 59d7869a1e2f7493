//! A call that a person has to decide waits, and what they are asked is what would run.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;
use toolwright::approval::{ApprovalRequest, Approver, ApproverError, Callback, Reply, Response};
use toolwright::journal::{State, StoredText};
use toolwright::{BuildProblem, Call, CallFailure, OnNoApprover, Outcome, ToolEventKind};

use super::support::{a_refund, answered, key, office, path, suspended};
use crate::support::kind;

/// S3.6, S3.27, S3.30, S3.32, S3.33, S3.34
#[tokio::test]
async fn a_call_that_asks_is_pending_and_has_not_run() {
    let office = office();
    let waits = suspended(office.executor().submit(&a_refund()).await);
    assert_eq!(waits.state, State::Pending);
    assert_eq!(office.ran.times(), 0);
    assert_eq!(path(&office.history(waits.call).await), "judging → pending");
}

/// S3.31: what is shown is what runs (invariant 2).
#[tokio::test]
async fn the_request_shows_the_final_arguments_the_reason_and_the_preview() {
    let office = office();
    let call = Call::new("kept_refund", r#"{"order":"A-1","cents":"250"}"#);
    let waits = suspended(office.executor().submit(&call).await);
    let request = waits.request.unwrap();
    assert_eq!(request.reason, "it sends money");
    assert_eq!(request.arguments, r#"{"order":"A-1","cents":250}"#);
    assert_eq!(request.preview.as_deref(), Some("A-1: -250"));
    assert_eq!(request.repairs.len(), 1);
    let record = office.record(waits.call).await;
    assert_eq!(record.raw, StoredText::Plain(r#"{"order":"A-1","cents":"250"}"#.to_owned()));
    assert_eq!(record.arguments, StoredText::Plain(request.arguments.clone()));
    office.approve(waits.call).await.unwrap();
    let answer = answered(office.executor().worker().unwrap().resume(waits.call).await);
    assert_eq!(answer.text(), "refunded 250 for A-1");
    assert_eq!(office.ran.all(), ["refund A-1 250"]);
}

#[tokio::test]
async fn defaults_are_filled_in_before_anybody_looks() {
    let office = office();
    let waits = suspended(office.executor().submit(&a_refund()).await);
    assert_eq!(waits.request.unwrap().arguments, r#"{"order":"A-1","cents":100}"#);
}

/// Invariant 3: nothing runs by default.
#[tokio::test]
async fn without_an_approver_the_builder_wants_a_word() {
    let error = office().bare().build().unwrap_err();
    assert_eq!(error.problems, [BuildProblem::NoApprover]);
}

#[tokio::test]
async fn without_an_approver_a_call_is_denied_parked_or_failed_as_told() {
    let office = office();
    let denying =
        office.bare().journal(office.journal().on_no_approver(OnNoApprover::Deny)).build().unwrap();
    let answer = answered(denying.submit(&a_refund()).await);
    assert_eq!(kind(&answer), "approval_required");

    let failing =
        office.bare().journal(office.journal().on_no_approver(OnNoApprover::Fail)).build().unwrap();
    let outcome = failing.submit(&a_refund()).await;
    assert!(matches!(outcome, Outcome::Failed(CallFailure::NoApprover { .. })), "{outcome:?}");

    let parking =
        office.bare().journal(office.journal().on_no_approver(OnNoApprover::Park)).build().unwrap();
    suspended(parking.submit(&a_refund()).await);
    assert_eq!(office.ran.times(), 0);
    assert_eq!(office.records().await.len(), 1, "only the parked one is recorded");
}

/// S3.28, S3.35, S3.36
#[tokio::test]
async fn somebody_in_the_process_is_asked_and_the_call_goes_on() {
    let office = office();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let approver = Callback::new(move |request: &ApprovalRequest| {
        seen.lock().unwrap().push(request.arguments.clone());
        Response::Approve
    });
    let executor = office.bare().approver(key("ada", 1), approver).build().unwrap();
    assert_eq!(executor.call(&a_refund()).await.text(), "refunded 100 for A-1");
    assert_eq!(*asked.lock().unwrap(), [r#"{"order":"A-1","cents":100}"#]);
    let record = &office.records().await[0];
    assert_eq!(record.state, State::Succeeded);
    let path = path(&office.history(record.id).await);
    assert_eq!(path, "judging → pending → ready → running → succeeded");
}

/// S3.37
#[tokio::test]
async fn a_rejection_is_the_answer_with_its_reason() {
    let office = office();
    let approver = Callback::new(|_: &ApprovalRequest| Response::Reject {
        reason: Some("the customer was paid already".to_owned()),
    });
    let executor = office.bare().approver(key("ada", 1), approver).build().unwrap();
    let answer = executor.call(&a_refund()).await;
    assert_eq!(kind(&answer), "rejected");
    assert!(answer.text().contains("the customer was paid already"), "{}", answer.text());
    assert_eq!(office.ran.times(), 0);
}

/// S3.35: an edit that the tool does not take is asked about once more, with what is wrong.
#[tokio::test]
async fn who_edits_into_what_the_tool_does_not_take_is_asked_again() {
    let office = office();
    let reasons = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&reasons);
    let approver = Callback::new(move |request: &ApprovalRequest| {
        let mut seen = seen.lock().unwrap();
        seen.push(request.reason.clone());
        let cents = if seen.len() == 1 { 0 } else { 40 };
        Response::Edit(format!(r#"{{"order":"A-1","cents":{cents}}}"#))
    });
    let executor = office.bare().approver(key("ada", 1), approver).build().unwrap();
    assert_eq!(executor.call(&a_refund()).await.text(), "refunded 40 for A-1");
    let reasons = reasons.lock().unwrap();
    assert_eq!(reasons.len(), 2);
    assert!(reasons[1].contains("the edit was not taken"), "{}", reasons[1]);
}

/// Invariant 3: a panicking approver has not approved.
#[tokio::test]
async fn an_approver_that_panics_has_not_approved() {
    let office = office();
    let approver = Callback::new(|_: &ApprovalRequest| -> Response { panic!("no") });
    let journal = office.journal().trust("bob", key("bob", 2).public());
    let builder = office.bare().journal(journal).approver(key("ada", 1), approver);
    let executor = builder.build().unwrap();
    let waits = suspended(executor.submit(&a_refund()).await);
    assert_eq!(waits.state, State::Pending);
    assert_eq!(office.ran.times(), 0);
}

#[tokio::test]
async fn a_read_that_asks_nobody_is_not_recorded() {
    let office = office();
    let answer = answered(office.executor().submit(&Call::new("kept_look", "{}")).await);
    assert_eq!(answer.text(), "7");
    assert!(office.records().await.is_empty());
}

/// Invariant 13.
#[tokio::test]
async fn the_same_call_denied_in_a_run_is_refused_without_asking_again() {
    let office = office();
    let executor = office.executor();
    let waits = suspended(executor.submit(&a_refund()).await);
    office.reject(waits.call, "no").await.unwrap();
    let answer = answered(executor.submit(&a_refund()).await);
    assert_eq!(kind(&answer), "rejected");
    let other = Call::new("kept_refund", r#"{"order":"B-2"}"#);
    suspended(executor.submit(&other).await);
    let elsewhere = executor.run("another run").start().unwrap();
    suspended(elsewhere.submit(&a_refund()).await);
}

/// S3.26: the event, and its order among the others.
#[tokio::test]
async fn listeners_hear_that_somebody_is_asked_and_that_the_call_is_suspended() {
    let office = office();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&heard);
    let executor = office
        .builder()
        .listen(move |event| {
            log.lock().unwrap().push(match event.kind {
                ToolEventKind::Started => "started".to_owned(),
                ToolEventKind::Asked { request } => format!("asked about {}", request.tool),
                ToolEventKind::Suspended { state, .. } => format!("suspended: {state}"),
                ref other => crate::support::word(other).to_owned(),
            });
        })
        .build()
        .unwrap();
    let waits = suspended(executor.submit(&a_refund()).await);
    let asked = ["started", "asked about kept_refund", "suspended: pending"];
    assert_eq!(*heard.lock().unwrap(), asked);
    heard.lock().unwrap().clear();
    office.approve(waits.call).await.unwrap();
    answered(executor.worker().unwrap().resume(waits.call).await);
    assert_eq!(*heard.lock().unwrap(), ["decided", "started", "executing", "completed"]);
}

#[tokio::test]
async fn a_resumed_call_has_the_id_that_its_provider_gave_it() {
    let office = office();
    let waits = suspended(office.executor().submit(&a_refund().id("toolu_1")).await);
    office.approve(waits.call).await.unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&heard);
    let listen = move |event: &toolwright::ToolEvent<'_>| {
        log.lock().unwrap().push((event.call, event.provider_id.map(str::to_owned)));
    };
    let later = office.builder().listen(listen).build().unwrap();
    answered(later.worker().unwrap().resume(waits.call).await);
    let heard = heard.lock().unwrap();
    assert!(!heard.is_empty());
    assert!(heard.iter().all(|it| *it == (waits.call, Some("toolu_1".to_owned()))), "{heard:?}");
}

#[tokio::test]
async fn listeners_hear_of_a_call_that_is_decided_at_once_as_of_one() {
    let office = office();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&heard);
    let approver = Callback::new(|_: &ApprovalRequest| Response::Approve);
    let executor = office
        .bare()
        .approver(key("ada", 1), approver)
        .listen(move |event| log.lock().unwrap().push(crate::support::word(&event.kind)))
        .build()
        .unwrap();
    executor.call(&a_refund()).await;
    assert_eq!(*heard.lock().unwrap(), ["started", "asked", "decided", "executing", "completed"]);
}

struct Thinking;

impl Approver for Thinking {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Result<Reply, ApproverError>> {
        Box::pin(crate::support::forever())
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_while_somebody_thinks_is_cancelled() {
    let office = office();
    let executor = office.bare().approver(key("ada", 1), Thinking).build().unwrap();
    let token = CancellationToken::new();
    let call = a_refund().cancelled_by(token.clone());
    let giving_up = async {
        while office.records().await.is_empty() {
            tokio::task::yield_now().await;
        }
        token.cancel();
    };
    let (answer, ()) = futures::future::join(executor.call(&call), giving_up).await;
    assert_eq!(kind(&answer), "cancelled");
    assert_eq!(office.records().await[0].state, State::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn a_drain_does_not_wait_for_somebody_who_thinks() {
    let office = office();
    let executor = office.bare().approver(key("ada", 1), Thinking).build().unwrap();
    let asking = tokio::spawn({
        let executor = executor.clone();
        async move { kind(&executor.call(&a_refund()).await) }
    });
    while office.records().await.is_empty() {
        tokio::task::yield_now().await;
    }
    let _ = executor.drain(std::time::Duration::from_secs(5)).await;
    assert_eq!(asking.await.unwrap(), "shutting_down");
}

#[tokio::test]
async fn a_call_through_a_pinned_catalog_is_made_for_the_user_and_in_the_session_of_its_run() {
    let office = office();
    let run = office.executor().run("r").user("bob").session("s-1").start().unwrap();
    let waits = suspended(run.pinned(&run.catalog()).submit(&a_refund()).await);
    let requester = office.record(waits.call).await.requester;
    assert_eq!(requester.agent, "agent:r");
    assert_eq!(
        (requester.user.as_deref(), requester.session.as_deref()),
        (Some("bob"), Some("s-1"))
    );
}
