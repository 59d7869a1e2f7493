//! Stages of an application, around every call, whichever way it arrives.

mod faults;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use toolwright::journal::{Journal, State, Transition};
use toolwright::{
    AfterCall, Answer, BeforeCall, Call, ErrorClass, Middleware, MiddlewareCall, Output, ToolError,
    tool,
};

use super::support::{Ran, a_refund, answered, office, suspended};
use crate::support::{Log, kind};

type Wish = fn() -> BeforeCall;

/// Notes what it sees, and does with each call what it was told to.
struct Stage {
    name: &'static str,
    log: Log,
    wishes: Mutex<VecDeque<Wish>>,
}

/// What it does afterwards.
struct Left(&'static str, Log, bool);

fn stage(name: &'static str, log: &Log, wishes: impl IntoIterator<Item = Wish>) -> Stage {
    Stage { name, log: log.clone(), wishes: Mutex::new(wishes.into_iter().collect()) }
}

impl Middleware for Stage {
    fn before<'a>(&'a self, call: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall> {
        async move {
            let (name, tool) = (self.name, &call.definition().name);
            self.log.add(format!("{name} before {tool} {} #{}", call.arguments(), call.attempt()));
            let wish = self.wishes.lock().unwrap().pop_front();
            match wish {
                Some(wish) => wish(),
                None => BeforeCall::Then(Box::new(Left(name, self.log.clone(), false))),
            }
        }
        .boxed()
    }
}

impl AfterCall for Left {
    fn after<'a>(
        mut self: Box<Self>,
        _: &'a MiddlewareCall<'a>,
        answer: &'a Answer,
    ) -> BoxFuture<'a, Option<Answer>> {
        async move {
            self.2 = true;
            self.1.add(format!("{} after {}", self.0, answer.text()));
            None
        }
        .boxed()
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        if !self.2 {
            self.1.add(format!("{} dropped", self.0));
        }
    }
}

fn later() -> BeforeCall {
    let class = ErrorClass::NotStarted { retry_after: Some(Duration::from_millis(20)) };
    BeforeCall::Refuse(ToolError::new("busy", "somebody else writes it").class(class))
}

fn refuse() -> BeforeCall {
    BeforeCall::Refuse(ToolError::new("closed", "not today"))
}

fn answer() -> BeforeCall {
    BeforeCall::Answer(Output::text("from the cache").into())
}

fn look() -> Call<'static> {
    Call::new("kept_look", "{}")
}

fn note() -> Call<'static> {
    Call::new("kept_note", r#"{"text":"a"}"#)
}

/// With a journal and without; read and written down or not.
#[tokio::test]
async fn stages_run_in_their_order_and_in_reverse_on_every_path() {
    for call in [look(), note()] {
        let expected = |answer: &str| {
            let (tool, arguments) = (call.name(), call.arguments());
            [
                format!("outer before {tool} {arguments} #1"),
                format!("inner before {tool} {arguments} #1"),
                format!("inner after {answer}"),
                format!("outer after {answer}"),
            ]
        };
        for is_recorded in [true, false] {
            let (office, log) = (office(), Log::default());
            let builder = match is_recorded {
                true => office.builder(),
                false => crate::support::builder([super::support::LOOK, super::support::NOTE])
                    .service_arc(Arc::clone(&office.ran)),
            };
            let builder = builder.middleware(stage("outer", &log, []));
            let executor = builder.middleware(stage("inner", &log, [])).build().unwrap();
            let text = executor.call(&call).await.text().into_owned();
            assert_eq!(log.lines(), expected(&text));
            let run = executor.run("r").start().unwrap();
            let calls = [Call::new(call.name(), call.arguments())];
            let turn = run.turn(1, &calls).await.unwrap();
            assert_eq!(turn.answers()[0].text(), text);
            assert_eq!(log.lines()[4..], expected(&text));
        }
    }
}

/// A worker and `resume` pass them as well; the policy and people come first.
#[tokio::test]
async fn a_call_that_was_approved_passes_the_stages_when_it_runs() {
    let (office, log) = (office(), Log::default());
    let executor = office.builder().middleware(stage("s", &log, [])).build().unwrap();
    let run = executor.run("r").start().unwrap();
    let waits = suspended(run.submit(&a_refund()).await).call;
    assert!(log.lines().is_empty(), "it may not run yet");
    office.approve(waits).await.unwrap();
    let worker = executor.worker().unwrap();
    assert_eq!(answered(worker.resume(waits).await).text(), "refunded 100 for A-1");
    let expected =
        [r#"s before kept_refund {"order":"A-1","cents":100} #1"#, "s after refunded 100 for A-1"];
    assert_eq!(log.lines(), expected);
}

/// It has not begun: it is due again when the stage says, takes no attempt by that, and its caller waits for it.
#[tokio::test]
async fn a_call_that_a_stage_delays_spends_no_attempt_and_runs_when_it_may() {
    let (office, log) = (office(), Log::default());
    let stages = stage("s", &log, [later as Wish; 12]);
    let builder = office.builder().middleware(stage("outer", &log, [])).middleware(stages);
    // Time passes.
    let journal = office.parking().clock(jiff::Timestamp::now);
    let executor = builder.journal(journal).build().unwrap();
    let answer = executor.call(&note()).await;
    assert_eq!(answer.text(), "a", "{answer:?}");
    assert_eq!(office.ran.times(), 1);
    let record = office.records().await.remove(0);
    assert_eq!((record.state, record.attempt, record.epoch), (State::Succeeded, 1, 1));
    let events: Vec<_> =
        office.history(record.id).await.into_iter().filter_map(|entry| entry.event).collect();
    assert_eq!(events[..3], [Transition::Allowed, Transition::Delayed, Transition::Delayed]);
    assert_eq!(events.iter().filter(|it| **it == Transition::Delayed).count(), 12);
    assert_eq!(log.count("outer dropped"), 12);
    assert_eq!(log.count("outer after a"), 1);
}

/// The worker of another process finds it when it is due.
#[tokio::test]
async fn a_delayed_call_waits_in_the_journal_for_its_time() {
    let (office, log) = (office(), Log::default());
    let hour = || {
        let class = ErrorClass::NotStarted { retry_after: Some(Duration::from_secs(3600)) };
        BeforeCall::Refuse(ToolError::new("busy", "it is night").class(class))
    };
    let executor = office.builder().middleware(stage("s", &log, [hour as Wish])).build().unwrap();
    let waits = suspended(executor.run("r").start().unwrap().submit(&note()).await);
    assert_eq!(waits.state, State::Ready);
    let record = office.record(waits.call).await;
    assert_eq!((record.attempt, record.epoch, record.owner), (0, 0, None));
    assert_eq!(office.ran.times(), 0);
    office.clock.pass(Duration::from_secs(3599));
    let worker = executor.worker().unwrap();
    worker.sweep().await.unwrap();
    assert_eq!(office.state(waits.call).await, State::Ready);
    office.clock.pass(Duration::from_secs(2));
    assert_eq!(answered(worker.resume(waits.call).await).text(), "a");
}

#[tokio::test]
async fn a_call_that_a_stage_refuses_or_answers_never_begins() {
    for (wish, expected, state, event) in [
        (refuse as Wish, "closed", State::Failed, Transition::TurnedAway),
        (answer as Wish, "ok", State::Succeeded, Transition::Answered),
    ] {
        let (office, log) = (office(), Log::default());
        let builder = office.builder().middleware(stage("outer", &log, []));
        let executor = builder.middleware(stage("s", &log, [wish, wish])).build().unwrap();
        let given = executor.call(&note()).await;
        assert_eq!(kind(&given), expected);
        let record = office.records().await.remove(0);
        assert_eq!((record.state, record.attempt, record.owner), (state, 0, None));
        let history = office.history(record.id).await;
        assert_eq!(history.last().unwrap().event, Some(event));
        let given = executor.call(&look()).await;
        assert_eq!(kind(&given), expected);
        assert_eq!(office.ran.times(), 0, "its tool did not run");
        let after = log.lines().iter().filter(|it| it.starts_with("outer after")).count();
        assert_eq!(after, 2, "the stage before it hears of the answer: {:?}", log.lines());
    }
}

/// Fails twice.
#[tool(name = "around_flaky", effect = read, retry(attempts = 3, delay = "1ms"))]
async fn flaky(ran: &Ran) -> Result<usize, ToolError> {
    ran.add("flaky");
    match ran.times() {
        3 => Ok(3),
        _ => Err(ToolError::new("lost", "the connection was lost").class(ErrorClass::Transient)),
    }
}

#[tokio::test]
async fn each_attempt_of_a_retry_passes_the_stages() {
    for is_recorded in [false, true] {
        let (office, log) = (office(), Log::default());
        let builder = crate::support::builder([FLAKY]).service_arc(Arc::clone(&office.ran));
        let builder = match is_recorded {
            true => builder.journal(
                Journal::new(office.store.clone())
                    .record_reads()
                    .on_no_approver(toolwright::OnNoApprover::Park),
            ),
            false => builder,
        };
        let executor = builder.middleware(stage("s", &log, [])).build().unwrap();
        let answer = executor.call(&Call::new("around_flaky", "{}")).await;
        assert_eq!(answer.text(), "3", "{answer:?}");
        let attempts: Vec<_> =
            log.lines().into_iter().filter(|line| line.contains(" before ")).collect();
        let expected = [1, 2, 3].map(|attempt| format!("s before around_flaky {{}} #{attempt}"));
        assert_eq!(attempts, expected);
        let unknown = executor.call(&Call::new("around_unknown", "{}")).await;
        assert_eq!((kind(&unknown).as_str(), log.lines().len()), ("unknown_tool", 6));
    }
}

struct Broken(bool);

impl Middleware for Broken {
    fn before<'a>(&'a self, _: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall> {
        assert!(self.0, "broken before");
        async { BeforeCall::Then(Box::new(Self(true)) as Box<dyn AfterCall>) }.boxed()
    }
}

impl AfterCall for Broken {
    fn after<'a>(
        self: Box<Self>,
        _: &'a MiddlewareCall<'a>,
        _: &'a Answer,
    ) -> BoxFuture<'a, Option<Answer>> {
        async { panic!("broken after") }.boxed()
    }
}

#[tokio::test]
async fn a_stage_that_panics_becomes_an_answer_before_the_tool_and_after() {
    for is_fine_before in [false, true] {
        let office = office();
        let executor = office.builder().middleware(Broken(is_fine_before)).build().unwrap();
        for call in [look(), note()] {
            let answer = executor.call(&call).await;
            assert_eq!(kind(&answer), "stage_failed", "{answer:?}");
            let (ran, is_lost) = ("ran, but its result is lost", answer.text());
            assert_eq!(is_lost.contains(ran), is_fine_before, "{is_lost}");
        }
        assert_eq!(office.ran.times(), if is_fine_before { 2 } else { 0 });
        assert_eq!(office.records().await[0].state, State::Failed);
    }
}

struct Endless;

impl Middleware for Endless {
    fn before<'a>(&'a self, _: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall> {
        crate::support::forever().boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn a_stage_that_never_ends_has_the_time_that_its_tool_has() {
    let office = office();
    let builder = office.builder().timeout(Some(Duration::from_secs(5))).middleware(Endless);
    let executor = builder.build().unwrap();
    for call in [look(), note()] {
        let answer = executor.call(&call).await;
        assert_eq!(kind(&answer), "stage_failed", "{answer:?}");
        assert!(answer.text().contains("took longer than 5s"), "{}", answer.text());
    }
    assert_eq!(office.ran.times(), 0);
}

#[tokio::test]
async fn a_call_that_is_given_up_in_a_stage_has_not_begun() {
    let office = office();
    let executor = office.builder().middleware(Endless).build().unwrap();
    for call in [look(), note()] {
        let token = toolwright::CancellationToken::new();
        let call = call.cancelled_by(token.clone());
        let (answer, ()) = futures::join!(executor.call(&call), async { token.cancel() });
        assert_eq!(kind(&answer), "cancelled");
    }
    let record = office.records().await.remove(0);
    assert_eq!((record.state, record.attempt), (State::Cancelled, 0));
    assert_eq!(office.ran.times(), 0);
}

/// Between two looks of one stage somebody else may have run the call.
#[tokio::test]
async fn of_two_owners_whose_stages_let_a_call_through_one_runs_it() {
    let (office, log) = (office(), Log::default());
    let executor = office.builder().middleware(stage("s", &log, [])).build().unwrap();
    let waits = suspended(executor.run("r").start().unwrap().submit(&a_refund()).await).call;
    office.approve(waits).await.unwrap();
    let (one, other) = (executor.worker().unwrap(), office.builder());
    let other = other.middleware(stage("t", &log, [])).build().unwrap();
    let other = other.worker().unwrap();
    futures::join!(one.resume(waits), other.resume(waits));
    assert_eq!(office.ran.times(), 1);
    let befores = log.lines().iter().filter(|it| it.contains(" before ")).count();
    let ends = log.lines().iter().filter(|it| !it.contains(" before ")).count();
    assert_eq!(befores, ends, "{:?}", log.lines());
}

/// What a stage says of a call that cannot wait is its answer.
#[tokio::test]
async fn a_call_whose_secret_cannot_be_stored_is_not_delayed() {
    let (office, log) = (office(), Log::default());
    let executor = office.builder().middleware(stage("s", &log, [later as Wish])).build().unwrap();
    let sign_in = Call::new("kept_sign_in", r#"{"site":"a","password":"hunter2"}"#);
    let answer = executor.call(&sign_in).await;
    // It asks, which it cannot wait for either.
    assert_eq!(kind(&answer), "approval_required");
    assert!(log.lines().is_empty());
}
