//! An approver that fails is never silence: the application hears why, and the call waits for somebody else or ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::timeout;
use toolwright::approval::{ApprovalRequest, Approver, ApproverError, Callback, Reply, Response};
use toolwright::journal::State;
use toolwright::policy::Policy;
use toolwright::{BuildProblem, ErrorClass, ExecutorBuilder, OnNoApprover, ToolEventKind};

use super::support::{Office, a_refund, key, office, path, suspended};
use crate::support::{Log, kind};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Cannot be asked, and counts how often that was tried.
#[derive(Clone, Default)]
struct Away(Arc<AtomicUsize>);

impl Approver for Away {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Result<Reply, ApproverError>> {
        self.0.fetch_add(1, SeqCst);
        Box::pin(async { Err(ApproverError::new("the office is closed")) })
    }
}

/// Thinks about the first question for ever, and cannot be asked any more.
#[derive(Default)]
struct LeavesLater(AtomicUsize);

impl Approver for LeavesLater {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Result<Reply, ApproverError>> {
        match self.0.fetch_add(1, SeqCst) {
            0 => Box::pin(crate::support::forever()),
            _ => Box::pin(async { Err(ApproverError::new("the office is closed")) }),
        }
    }
}

fn panics() -> impl Approver {
    Callback::new(|_: &ApprovalRequest| -> Response { panic!("a defect") })
}

fn edits_wrongly() -> impl Approver {
    Callback::new(|_: &ApprovalRequest| Response::Edit("{}".to_owned()))
}

/// What the only approver's failure makes of a call: its answer, its path and the last reason in its history.
async fn alone(builder: impl Fn(ExecutorBuilder) -> ExecutorBuilder) -> (String, String, String) {
    let office = office();
    let executor = builder(office.bare()).build().unwrap();
    let call = a_refund();
    let answer = timeout(HOUR, executor.call(&call)).await.expect("it still waits");
    let history = office.history(office.records().await[0].id).await;
    let why = history.last().and_then(|entry| entry.why.clone()).unwrap_or_default();
    assert_eq!(office.ran.times(), 0);
    let error = answer.error().expect("an error");
    assert_eq!(error.classified(), ErrorClass::NotStarted { retry_after: None });
    (error.kind().to_owned(), path(&history), why)
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_at_once_where_the_only_approver_fails_and_the_journal_says_why() {
    let ended = |why: &str| {
        ("approval_required".to_owned(), "judging → pending → expired".to_owned(), why.to_owned())
    };
    let ada = || key("ada", 1);
    assert_eq!(
        alone(|it| it.approver(ada(), Away::default())).await,
        ended("the office is closed")
    );
    assert_eq!(alone(|it| it.ask(Away::default())).await, ended("the office is closed"));
    let (kind, path, why) = alone(|it| it.ask(panics())).await;
    assert_eq!((kind, path), (ended("").0, ended("").1));
    assert!(why.contains("the function that approves panicked"), "{why}");
    let (kind, path, why) = alone(|it| it.ask(edits_wrongly())).await;
    assert_eq!((kind, path), (ended("").0, ended("").1));
    assert!(why.contains("its tool took none of them"), "{why}");
}

/// One line for each event about approval.
fn heard(office: &Office, log: &Log) -> ExecutorBuilder {
    let lines = log.clone();
    office.bare().listen(move |event| match event.kind {
        ToolEventKind::ApproverFailed { why, waits } => lines.add(format!("{why}; waits: {waits}")),
        ToolEventKind::Expired { .. } => lines.add("expired"),
        _ => {}
    })
}

#[tokio::test]
async fn listeners_hear_why_an_approver_failed_before_the_call_expires() {
    let (office, log) = (office(), Log::default());
    let executor = heard(&office, &log).ask(Away::default()).build().unwrap();
    executor.call(&a_refund()).await;
    assert_eq!(log.lines(), ["the office is closed; waits: false", "expired"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_others_whose_keys_count_and_the_application_is_told() {
    let (office, log, away) = (office(), Log::default(), Away::default());
    let journal = office.journal().trust("ada", office.ada.public());
    let builder = heard(&office, &log).journal(journal).ask(away.clone());
    let executor = builder.build().unwrap();
    let id = suspended(executor.submit(&a_refund()).await).call;
    assert_eq!(office.state(id).await, State::Pending);
    assert_eq!(log.lines(), ["the office is closed; waits: true"]);
    let deciding = async {
        tokio::time::sleep(Duration::from_secs(45)).await;
        office.approve(id).await.unwrap();
    };
    let (outcome, ()) = futures::future::join(executor.worker().unwrap().wait(id), deciding).await;
    assert_eq!(kind(&outcome.answer().unwrap()), "ok");
    assert_eq!(away.0.load(SeqCst), 2, "at first, and after 30 s");
}

#[tokio::test]
async fn a_call_waits_where_the_application_says_that_it_is_parked() {
    let office = office();
    let builder = office
        .bare()
        .ask(Away::default())
        .journal(office.journal().on_no_approver(OnNoApprover::Park));
    let waits = suspended(builder.build().unwrap().submit(&a_refund()).await);
    assert_eq!(office.state(waits.call).await, State::Pending);
}

/// The other process may be at a terminal where somebody is reading the question.
#[tokio::test]
async fn a_worker_whose_approver_fails_does_not_end_what_another_process_asks_about() {
    let office = office();
    let other =
        office.bare().journal(office.journal().on_no_approver(OnNoApprover::Park)).build().unwrap();
    let id = suspended(other.submit(&a_refund()).await).call;
    let executor = office.bare().ask(Away::default()).build().unwrap();
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.state(id).await, State::Pending);
    let waited_for = executor.run("another").start().unwrap().worker().unwrap().wait(id).await;
    assert_eq!(kind(&waited_for.answer().unwrap()), "approval_required");
}

#[tokio::test]
async fn a_worker_whose_approver_fails_ends_what_it_has_asked_about_itself() {
    let office = office();
    let executor = office.bare().ask(LeavesLater::default()).build().unwrap();
    let call = a_refund();
    let mut submitting = Box::pin(executor.submit(&call));
    assert!(futures::poll!(&mut submitting).is_pending());
    drop(submitting);
    let id = office.records().await[0].id;
    executor.worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.state(id).await, State::Expired);
}

#[tokio::test]
async fn a_key_that_is_made_for_the_process_approves_there_and_is_named_in_the_history() {
    let office = office();
    let approver = Callback::new(|_| Response::Approve);
    let executor = office.bare().ask(approver).build().unwrap();
    assert_eq!(executor.call(&a_refund()).await.text(), "refunded 100 for A-1");
    let history = office.history(office.records().await[0].id).await;
    let who: Vec<_> = history.iter().map(|entry| entry.who.as_str()).collect();
    assert!(who.contains(&"local approver"), "{who:?}");
}

#[tokio::test]
async fn four_eyes_want_an_approver_with_a_name() {
    let builder = office().ruled().policy(Policy::builder().four_eyes(true)).ask(Away::default());
    assert_eq!(builder.build().unwrap_err().problems, [BuildProblem::UnnamedApprover]);
}
