//! What listeners hear of calls that a journal keeps, whoever waits for them: decisions, deadlines, lost owners, dead
//! letters, each by the one process that made it so.

use std::time::Duration;

use toolwright::approval::{ApprovalRequest, Callback, Response, Statement};
use toolwright::journal::{FailedAttempt, Journal, State};
use toolwright::policy::{Policy, Rule};
use toolwright::retry::RetryPolicy;
use toolwright::unstable::arguments::canonical;
use toolwright::{
    Call, CallId, Executor, ExecutorBuilder, OnNoApprover, Registry, ToolContext, ToolEvent,
    ToolEventKind, tool,
};

use super::dead::office::{a_dead_letter, dead_letters};
use super::support::{Office, a_refund, answered, key, office, suspended};
use crate::support::{Log, word};

/// One line for each event, with what it carries.
fn line(event: &ToolEvent<'_>) -> String {
    let word = word(&event.kind);
    match event.kind {
        ToolEventKind::Decided { verdict, by, waited } => {
            format!("{verdict} by {by} after {} s", waited.as_secs())
        }
        ToolEventKind::Expired { waited } => format!("expired after {} s", waited.as_secs()),
        ToolEventKind::OwnerLost { state } => format!("owner lost, {state}"),
        ToolEventKind::Dead { kind, attempts } => {
            let kinds: Vec<&str> = attempts.iter().map(|it: &FailedAttempt| &*it.kind).collect();
            format!("dead of {kind}: {kinds:?}")
        }
        ToolEventKind::PutBack { why } => format!("put back: {why}"),
        ToolEventKind::Judged { verdict, .. } => {
            format!("judged {}", serde_json::to_value(verdict).unwrap()["verdict"])
        }
        ToolEventKind::Suspended { state, .. } => format!("suspended, {state}"),
        ToolEventKind::Executing => format!("attempt {}", event.attempt.unwrap()),
        _ => word.to_owned(),
    }
}

fn heard(builder: ExecutorBuilder) -> (Executor, Log) {
    let log = Log::default();
    let lines = log.clone();
    (builder.listen(move |event| lines.add(line(event))).build().unwrap(), log)
}

/// A refund that waits, of an executor that nobody listens to.
async fn waiting(office: &Office) -> CallId {
    suspended(office.executor().submit(&a_refund().id("toolu_1")).await).call
}

#[tokio::test]
async fn an_approval_is_told_by_whoever_goes_on_and_before_the_attempt() {
    let office = office();
    let id = waiting(&office).await;
    office.clock.pass(Duration::from_secs(90));
    office.approve(id).await.unwrap();
    office.clock.pass(Duration::from_secs(7));
    let ((executor, log), (late, silence)) = (heard(office.builder()), heard(office.builder()));
    assert_eq!(executor.worker().unwrap().sweep().await.unwrap().gone_on, 1);
    late.worker().unwrap().sweep().await.unwrap();
    answered(late.worker().unwrap().resume(id).await);
    let told = ["approved by ada after 90 s", "started", "attempt 1", "completed"];
    assert_eq!(log.lines(), told);
    assert_eq!(silence.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn a_rejection_is_told_to_whoever_finds_it_until_the_run_has_taken_note() {
    let office = office();
    let id = waiting(&office).await;
    office.reject(id, "no").await.unwrap();
    let (executor, log) = heard(office.builder());
    answered(executor.worker().unwrap().wait(id).await);
    assert_eq!(log.lines(), ["rejected by ada after 0 s"]);
    executor.worker().unwrap().acknowledge(id).await.unwrap();
    answered(executor.worker().unwrap().resume(id).await);
    assert_eq!(log.lines().len(), 1);
}

#[tokio::test]
async fn a_decision_in_this_process_is_told_between_asked_and_the_end() {
    for (decision, told) in [
        (
            Response::Approve,
            vec!["started", "asked", "approved by ada after 0 s", "attempt 1", "completed"],
        ),
        (
            Response::Reject { reason: None },
            vec!["started", "asked", "rejected by ada after 0 s", "failed"],
        ),
    ] {
        let office = office();
        let approver = Callback::new(move |_: &ApprovalRequest| decision.clone());
        let (executor, log) = heard(office.bare().approver(key("ada", 1), approver));
        executor.call(&a_refund()).await;
        assert_eq!(log.lines(), told);
    }
}

#[tokio::test]
async fn an_edit_is_told_with_the_judgement_that_follows_and_once() {
    let office = office();
    let id = waiting(&office).await;
    let record = office.record(id).await;
    let arguments = r#"{"order":"A-1","cents":5}"#;
    let digest = record.digest_with(&canonical(arguments).unwrap());
    let edit = Statement::edit(&record, arguments, digest, "ada", office.clock.now());
    office.say(edit).await.unwrap();
    let rule = Rule::ask("money").named("money").tool("kept_refund");
    let builder = office.ruled().policy(Policy::builder().rule(rule)).journal(office.parking());
    let (executor, log) = heard(builder);
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.ran.all(), ["refund A-1 5"]);
    let told = ["edited by ada after 0 s", "judged \"ask\"", "started", "attempt 1", "completed"];
    assert_eq!(log.lines(), told);
}

#[tokio::test]
async fn what_is_judged_again_and_asked_again_is_told_without_anybody_waiting() {
    let office = office();
    let id = waiting(&office).await;
    office.approve(id).await.unwrap();
    let rule = Rule::deny("no money today").named("money").tool("kept_refund");
    let builder = office.ruled().policy(Policy::builder().rule(rule)).journal(office.parking());
    let (executor, log) = heard(builder);
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.state(id).await, State::Refused);
    assert_eq!(log.lines(), ["approved by ada after 0 s", "judged \"deny\""]);
}

#[tokio::test]
async fn a_deadline_that_a_sweep_finds_is_told() {
    let office = office();
    let id = waiting(&office).await;
    office.clock.pass(Duration::from_secs(24 * 60 * 60));
    let (executor, log) = heard(office.builder());
    assert_eq!(executor.worker().unwrap().sweep().await.unwrap().expired, 1);
    assert_eq!(office.state(id).await, State::Expired);
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(log.lines(), ["expired after 86400 s"]);
}

#[tokio::test]
async fn a_lost_owner_is_told_with_what_becomes_of_the_call_and_a_letter_when_it_dies() {
    let office = office();
    let dead = vec!["owner lost, dead", r#"dead of owner_lost: ["owner_lost"]"#];
    let builder = || office.builder().retry(RetryPolicy::NONE);
    for (tool, told) in
        [("kept_hang", vec!["owner lost, indeterminate"]), ("kept_hang_again", dead)]
    {
        let first = builder().build().unwrap();
        let call = Call::new(tool, "{}");
        let mut hanging = Box::pin(first.submit(&call));
        assert!(futures::poll!(&mut hanging).is_pending());
        office.clock.pass(Duration::from_secs(31));
        let (executor, log) = heard(builder());
        assert_eq!(executor.worker().unwrap().sweep().await.unwrap().lost, 1);
        assert_eq!(log.lines(), told);
    }
}

#[tokio::test]
async fn a_dead_letter_is_told_before_the_end_and_a_requeue_by_whoever_acts_on_it() {
    let dead_letters = dead_letters();
    let (executor, log) = heard(dead_letters.builder());
    executor.run("r").start().unwrap().submit_turn(1, &[a_dead_letter()]).await;
    let dead = r#"dead of panic: ["panic"]"#;
    assert_eq!(log.lines(), ["started", "attempt 1", dead, "failed"]);
    let id = dead_letters.office.records().await[0].id;
    dead_letters.requeue(id, false).await;
    executor.worker().unwrap().sweep().await.unwrap();
    let told = ["requeued by ada after 0 s", "started", "attempt 1", dead, "failed"];
    assert_eq!(log.lines()[4..], told);
    dead_letters.edit(id, r#"{"to":7,"from":[]}"#).await;
    executor.worker().unwrap().sweep().await.unwrap();
    let lines = log.lines();
    assert_eq!(lines[9], "requeued with other arguments by ada after 0 s");
    assert!(lines[10].starts_with("put back: the new arguments were not taken"), "{}", lines[10]);
    assert_eq!(lines.len(), 11);
}

#[tokio::test]
async fn a_word_of_somebody_unknown_is_never_told_as_a_decision() {
    let office = office();
    let id = waiting(&office).await;
    let eve = key("ada", 9);
    let approve = Statement::approve(&office.record(id).await, "ada", office.clock.now());
    office.service().submit(eve.sign(&approve).unwrap(), office.clock.now()).await.unwrap();
    let (executor, log) = heard(office.builder());
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!((office.state(id).await, office.ran.times()), (State::Pending, 0));
    assert_eq!(log.lines(), ["asked"]);
}

/// Tells how far it is.
#[tool(name = "told_step", effect = idempotent)]
async fn step(context: &ToolContext) {
    context.progress("half", Some(0.5));
}

#[tokio::test]
async fn every_event_of_a_kept_call_names_it_its_run_its_ids_and_its_digest() {
    let office = office();
    let log = Log::default();
    let lines = log.clone();
    let listen = move |event: &ToolEvent<'_>| {
        lines.add(format!(
            "{} {} {:?} {}",
            event.call,
            event.run,
            event.provider_id,
            event.digest.unwrap_or("none")
        ));
    };
    let builder = || {
        Executor::builder(Registry::of([STEP]).unwrap())
            .policy(Policy::builder().rule(Rule::ask("steps").named("s").tool("told_step")))
            .journal(
                Journal::new(office.store.clone())
                    .trust("ada", office.ada.public())
                    .on_no_approver(OnNoApprover::Park),
            )
    };
    let first = builder().build().unwrap().run("run-7").start().unwrap();
    let call = Call::new("told_step", "{}").id("toolu_7");
    let id = suspended(first.submit(&call).await).call;
    office.approve(id).await.unwrap();
    builder().listen(listen).build().unwrap().worker().unwrap().sweep().await.unwrap();
    let digest = office.record(id).await.digest;
    let expected = format!("{id} run-7 Some(\"toolu_7\") {digest}");
    assert_eq!(log.lines(), vec![expected; 5], "decided, started, executing, progress, completed");
}

#[tokio::test]
async fn a_record_keeps_the_trace_in_which_its_call_was_made() {
    let office = office();
    let traced = office
        .builder()
        .journal(office.parking().trace_id(|| Some("4bf9".to_owned())))
        .build()
        .unwrap();
    let id = suspended(traced.submit(&a_refund()).await).call;
    assert_eq!(office.record(id).await.trace.as_deref(), Some("4bf9"));
    office.approve(id).await.unwrap();
    let later = office
        .builder()
        .journal(office.parking().trace_id(|| Some("another".to_owned())))
        .build()
        .unwrap();
    answered(later.worker().unwrap().resume(id).await);
    assert_eq!(office.record(id).await.trace.as_deref(), Some("4bf9"));
}

#[tokio::test]
async fn a_panic_of_the_closure_that_tells_the_trace_harms_no_call() {
    let office = office();
    let panic = || std::panic::resume_unwind(Box::new("a defect"));
    let traced = office.builder().journal(office.parking().trace_id(panic)).build().unwrap();
    let id = suspended(traced.submit(&a_refund()).await).call;
    assert_eq!(office.record(id).await.trace, None);
}
