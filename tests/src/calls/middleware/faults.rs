//! What goes wrong around a call: values that panic when they are dropped, stages that never end, calls that were begun
//! before, answers that must not be stored.

use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use toolwright::journal::{Journal, State};
use toolwright::retry::RetryPolicy;
use toolwright::{
    AfterCall, Answer, BeforeCall, Call, CancellationToken, ErrorClass, Middleware, MiddlewareCall,
    OnNoApprover, Output, ToolError, tool,
};

use super::super::support::{LOOK, Office, Ran, office};
use super::{Wish, answer, look, note, refuse, stage};
use crate::support::{Log, builder, kind};

/// Notes where a call stands in its turn.
struct Places(Log);

impl Middleware for Places {
    fn before<'a>(&'a self, call: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall> {
        self.0.add(format!("{:?} {:?}", call.turn(), call.index()));
        async { BeforeCall::Continue }.boxed()
    }
}

#[tokio::test]
async fn a_stage_sees_turn_and_index_with_a_journal_and_without() {
    for is_journalled in [false, true] {
        let (office, log) = (office(), Log::default());
        let builder = match is_journalled {
            true => office.builder().journal(office.parking().record_reads()),
            false => builder([LOOK]).service_arc(Arc::clone(&office.ran)),
        };
        let executor = builder.middleware(Places(log.clone())).build().unwrap();
        let run = executor.run("r").start().unwrap();
        run.turn(7, &[look(), look()]).await.unwrap();
        run.call(&look()).await;
        assert_eq!(log.lines(), ["Some(7) Some(0)", "Some(7) Some(1)", "None None"]);
    }
}

/// Its values panic when they are dropped, and it notes that.
struct Touchy(Log);

struct Panics(Log);

impl Middleware for Touchy {
    fn before<'a>(&'a self, _: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall> {
        async { BeforeCall::Then(Box::new(Panics(self.0.clone()))) }.boxed()
    }
}

impl AfterCall for Panics {
    fn after<'a>(
        self: Box<Self>,
        _: &'a MiddlewareCall<'a>,
        _: &'a Answer,
    ) -> BoxFuture<'a, Option<Answer>> {
        async move {
            let _held = self;
            None
        }
        .boxed()
    }
}

impl Drop for Panics {
    fn drop(&mut self) {
        self.0.add("dropped");
        panic!("a value of a stage is dropped");
    }
}

#[tokio::test]
async fn a_value_that_panics_when_it_is_dropped_stops_no_other_and_no_answer() {
    for is_journalled in [false, true] {
        let (office, log) = (office(), Log::default());
        let builder = match is_journalled {
            true => office.builder().journal(office.parking().record_reads()),
            false => builder([LOOK]).service_arc(Arc::clone(&office.ran)),
        };
        let builder = builder.middleware(Touchy(log.clone())).middleware(Touchy(log.clone()));
        let executor =
            builder.middleware(stage("s", &Log::default(), [super::later as Wish])).build();
        let call = look().cancelled_by(CancellationToken::new());
        let given = executor.unwrap().run("r").start().unwrap().submit(&call).now_or_never();
        assert_eq!(log.count("dropped") % 2, 0, "{given:?}");
        assert!(log.count("dropped") >= 2, "both are dropped: {given:?}");
    }
}

/// Never ends after the tool.
struct Stuck;

impl Middleware for Stuck {
    fn before<'a>(&'a self, _: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall> {
        async { BeforeCall::Then(Box::new(Self) as Box<dyn AfterCall>) }.boxed()
    }
}

impl AfterCall for Stuck {
    fn after<'a>(
        self: Box<Self>,
        _: &'a MiddlewareCall<'a>,
        _: &'a Answer,
    ) -> BoxFuture<'a, Option<Answer>> {
        crate::support::forever().boxed()
    }
}

#[tokio::test]
async fn cancellation_reaches_a_stage_that_never_ends_after_the_tool() {
    for is_journalled in [false, true] {
        let office = office();
        let builder = match is_journalled {
            true => office.builder().journal(office.parking().record_reads()),
            false => builder([LOOK]).service_arc(Arc::clone(&office.ran)),
        };
        let executor = builder.timeout(None).middleware(Stuck).build().unwrap();
        let token = CancellationToken::new();
        let call = look().cancelled_by(token.clone());
        let given_up = async {
            while office.ran.times() == 0 {
                tokio::task::yield_now().await;
            }
            token.cancel();
        };
        let (answer, ()) = futures::join!(executor.call(&call), given_up);
        assert_eq!(kind(&answer), "stage_failed", "{answer:?}");
        assert!(answer.text().contains("was cancelled"), "{}", answer.text());
    }
}

/// Never ends.
#[tool(name = "around_endless", effect = read)]
async fn endless(ran: &Ran) {
    ran.add("endless");
    crate::support::forever::<()>().await;
}

/// As without a stage: what the stage did not come to says nothing else.
#[tokio::test]
async fn a_call_that_is_cancelled_in_its_tool_is_answered_as_cancelled_whatever_its_stages_do() {
    for is_staged in [false, true] {
        let ran = Arc::new(Ran::default());
        let builder = builder_of_endless(&ran);
        let builder = if is_staged { builder.middleware(Stuck) } else { builder };
        let executor = builder.build().unwrap();
        let token = CancellationToken::new();
        let call = Call::new("around_endless", "{}").cancelled_by(token.clone());
        let given_up = async {
            while ran.times() == 0 {
                tokio::task::yield_now().await;
            }
            token.cancel();
        };
        let (answer, ()) = futures::join!(executor.call(&call), given_up);
        assert_eq!(kind(&answer), "cancelled", "{answer:?}");
        assert_eq!(answer.error().unwrap().classified(), ErrorClass::Cancelled);
    }
}

/// Notes whether the attempt that it let through began.
struct Hears(Log);

impl Middleware for Hears {
    fn before<'a>(&'a self, _: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall> {
        async { BeforeCall::Then(Box::new(Self(self.0.clone())) as Box<dyn AfterCall>) }.boxed()
    }
}

impl AfterCall for Hears {
    fn after<'a>(
        self: Box<Self>,
        _: &'a MiddlewareCall<'a>,
        _: &'a Answer,
    ) -> BoxFuture<'a, Option<Answer>> {
        self.0.add("after");
        async { None }.boxed()
    }

    fn not_begun(self: Box<Self>) {
        self.0.add("not begun");
        panic!("it stops no other");
    }
}

#[tokio::test]
async fn a_stage_hears_that_a_later_one_turned_the_call_away_and_of_no_attempt_that_began() {
    let (office, log) = (office(), Log::default());
    let builder = office
        .builder()
        .journal(office.parking().clock(jiff::Timestamp::now))
        .middleware(Hears(log.clone()));
    let builder = builder.middleware(Hears(log.clone()));
    let stages = stage("s", &Log::default(), [super::later as Wish]);
    let executor = builder.middleware(stages).build().unwrap();
    executor.call(&note()).await;
    assert_eq!(log.lines(), ["not begun", "not begun", "after", "after"]);

    // Dropped while its tool is at work, it may have done something.
    let (ran, log) = (Arc::new(Ran::default()), Log::default());
    let builder = builder_of_endless(&ran).middleware(Hears(log.clone()));
    let executor = builder.build().unwrap();
    assert!(executor.call(&Call::new("around_endless", "{}")).now_or_never().is_none());
    assert_eq!((ran.times(), log.lines().len()), (1, 0));
}

fn builder_of_endless(ran: &Arc<Ran>) -> toolwright::ExecutorBuilder {
    builder([ENDLESS]).service_arc(Arc::clone(ran)).timeout(None)
}

#[tokio::test(start_paused = true)]
async fn a_stage_before_the_tool_has_no_more_than_what_is_left_of_the_whole_call() {
    for is_journalled in [false, true] {
        let office = office();
        let builder = match is_journalled {
            true => office.builder().journal(office.parking().record_reads()),
            false => builder([LOOK]).service_arc(Arc::clone(&office.ran)),
        };
        let limited = builder.total_timeout(Some(Duration::from_secs(2)));
        let executor = limited.middleware(super::Endless).build().unwrap();
        let begun = tokio::time::Instant::now();
        let answer = executor.call(&look()).await;
        assert_eq!(kind(&answer), "stage_failed", "{answer:?}");
        assert!(begun.elapsed() <= Duration::from_secs(3), "{:?}", begun.elapsed());
        assert_eq!(office.ran.times(), 0);
    }
}

/// May have acted, and fails.
#[tool(name = "around_lost", effect = idempotent, retry(attempts = 2, delay = "1ms"))]
async fn lost(ran: &Ran) -> Result<(), ToolError> {
    ran.add("lost");
    Err(ToolError::new("lost", "the connection was lost").class(ErrorClass::Transient))
}

fn go_on() -> BeforeCall {
    BeforeCall::Continue
}

/// By the clock of the system.
fn parking(office: &Office) -> Journal {
    Journal::new(office.store.clone()).on_no_approver(OnNoApprover::Park)
}

#[tokio::test]
async fn an_answer_of_a_stage_says_that_the_call_was_begun_before() {
    let office = office();
    let journalled = builder([LOST]).journal(parking(&office));
    let journalled = journalled.service_arc(Arc::clone(&office.ran));
    let stages = stage("s", &Log::default(), [go_on as Wish, refuse]);
    let executor = journalled.middleware(stages).build().unwrap();
    let answer = executor.call(&Call::new("around_lost", "{}")).await;
    assert_eq!((kind(&answer).as_str(), office.ran.times()), ("closed", 1));
    assert!(answer.text().contains("it was begun once before"), "{}", answer.text());
    let record = office.records().await.remove(0);
    assert!(record.answer.unwrap().text.contains("may have happened"));
}

/// A reservation that is held elsewhere says nothing about the attempt that failed.
#[tokio::test(start_paused = true)]
async fn a_delay_does_not_hide_what_an_attempt_answered() {
    let office = office();
    let retry = RetryPolicy::TOOL.delay(Duration::from_millis(1));
    let unrecorded = builder([LOST]).service_arc(Arc::clone(&office.ran)).retry(retry);
    let stages = stage("s", &Log::default(), [go_on as Wish, super::later, super::later]);
    let executor = unrecorded.middleware(stages).build().unwrap();
    let answer = executor.call(&Call::new("around_lost", "{}")).await;
    assert_eq!((kind(&answer).as_str(), office.ran.times()), ("lost", 1));
}

/// Signs in without asking.
#[tool(name = "around_sign_in")]
async fn sign_in(
    ran: &Ran,
    /// With what.
    #[arg(secret)]
    password: String,
) -> String {
    ran.add("sign in");
    password
}

#[tokio::test]
async fn the_caller_gets_the_answer_of_a_stage_that_must_not_be_stored() {
    let office = office();
    let journalled = builder([SIGN_IN]).journal(parking(&office));
    let journalled = journalled.service_arc(Arc::clone(&office.ran));
    let stages = stage("s", &Log::default(), [answer as Wish]);
    let executor = journalled.middleware(stages).build().unwrap();
    let call = Call::new("around_sign_in", r#"{"password":"hunter2"}"#);
    assert_eq!(executor.call(&call).await.text(), "from the cache");
    let record = office.records().await.remove(0);
    assert_eq!((record.state, office.ran.times()), (State::Succeeded, 0));
    assert!(!record.answer.unwrap().text.contains("from the cache"));
}

/// Says something else than the tool.
struct Other;

impl Middleware for Other {
    fn before<'a>(&'a self, _: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall> {
        async { BeforeCall::Then(Box::new(Self) as Box<dyn AfterCall>) }.boxed()
    }
}

impl AfterCall for Other {
    fn after<'a>(
        self: Box<Self>,
        _: &'a MiddlewareCall<'a>,
        answer: &'a Answer,
    ) -> BoxFuture<'a, Option<Answer>> {
        let other = format!("{}, at length", answer.text());
        async move { Some(Output::text(other).into()) }.boxed()
    }
}

#[tokio::test]
async fn what_is_recorded_is_the_answer_after_the_stages() {
    let office = office();
    let executor = office.builder().middleware(Other).build().unwrap();
    assert_eq!(executor.call(&note()).await.text(), "a, at length");
    assert_eq!(office.records().await.remove(0).answer.unwrap().text, "a, at length");
}
