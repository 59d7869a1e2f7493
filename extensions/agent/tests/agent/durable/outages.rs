//! The model is away, or the journal cannot write: runs stay, and go on when both are back.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::{Instant, sleep, timeout};
use toolwright::dialect::Dialect;
use toolwright::{ErrorClass, Executor, Registry};
use toolwright_agent::durable::{NewRun, Phase, RunError, Runner};
use toolwright_agent::{
    Agent, Model, ModelAnswer, ModelError, ModelRequest, RunEnd, ScriptedModel, Stopped,
    TotalUsage, Usage,
};

use super::at_once::Counting;
use super::process::World;
use super::unreadable::Unreadable;

/// A model that is away until a time, and says since when it was asked how often.
struct Away {
    begun: Instant,
    back: Duration,
    error: fn() -> ModelError,
    asked: Mutex<Vec<u64>>,
}

impl Away {
    fn for_seconds(seconds: u64, error: fn() -> ModelError) -> Arc<Self> {
        let back = Duration::from_secs(seconds);
        Arc::new(Self { begun: Instant::now(), back, error, asked: Mutex::default() })
    }

    fn asked(&self) -> Vec<u64> {
        self.asked.lock().unwrap().clone()
    }
}

impl Model for Away {
    fn name(&self) -> &str {
        "away"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(&'a self, _: ModelRequest<'a>) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        let elapsed = self.begun.elapsed();
        self.asked.lock().unwrap().push(elapsed.as_secs());
        let is_back = elapsed >= self.back;
        Box::pin(async move {
            if is_back { Ok(ModelAnswer::text("Done.")) } else { Err((self.error)()) }
        })
    }
}

fn unreachable() -> ModelError {
    let class = ErrorClass::NotStarted { retry_after: None };
    ModelError::new("unreachable", "nothing listens there").class(class)
}

fn busy() -> ModelError {
    let class = ErrorClass::NotStarted { retry_after: Some(Duration::from_mins(20)) };
    ModelError::new("rate_limited", "ask again in 20 minutes").class(class)
}

fn cut() -> ModelError {
    ModelError::new("connection_lost", "the connection was cut").class(ErrorClass::Transient)
}

fn refused() -> ModelError {
    ModelError::new("wrong_key", "check the key")
}

async fn worked(runner: &Runner, time: Duration) {
    assert!(timeout(time, runner.work()).await.is_err(), "it works on");
}

#[tokio::test(start_paused = true)]
async fn every_run_goes_on_by_itself_when_the_model_is_back() {
    for error in [unreachable, busy, cut] {
        let (world, model) = (World::on_tokio_time(), Away::for_seconds(60, error));
        let runner = world.process(&model);
        for run in 0..5 {
            runner.submit(NewRun::new(format!("r{run}"), "clerk", "go")).await.unwrap();
        }
        worked(&runner, Duration::from_secs(30)).await;
        let head = runner.head("r0").await.unwrap();
        let outage = head.outage.unwrap();
        assert_eq!((head.phase, head.lease), (Phase::Asking, None));
        assert_eq!(outage.kind, error().kind());
        worked(&runner, Duration::from_mins(25)).await;
        for run in 0..5 {
            let head = runner.head(&format!("r{run}")).await.unwrap();
            assert_eq!((head.ended.as_deref(), head.outage), (Some("text"), None));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_pauses_grow_over_processes_and_no_run_is_asked_for_before_its_provider_wants_it() {
    let (world, model) = (World::on_tokio_time(), Away::for_seconds(u64::MAX >> 10, unreachable));
    let first = world.process(&model);
    first.submit(NewRun::new("r1", "clerk", "go")).await.unwrap();
    for _ in 0..40 {
        // A process that is started again and again.
        let runner = world.process(&model);
        worked(&runner, Duration::from_secs(15)).await;
    }
    let asked = model.asked();
    assert!((6..=12).contains(&asked.len()), "{asked:?}");
    let times = first.head("r1").await.unwrap().outage.unwrap().times;
    assert_eq!(times as usize, asked.len());

    let (world, model) = (World::on_tokio_time(), Away::for_seconds(60, busy));
    let runner = world.process(&model);
    let error = runner.start(NewRun::new("r1", "clerk", "go")).await.unwrap_err();
    assert!(matches!(&error, RunError::ModelUnreachable { kind, .. } if kind == "rate_limited"));
    assert!(error.to_string().contains("(rate_limited: ask again in 20 minutes)"), "{error}");
    // Other processes find the cause in the journal.
    let outage = runner.head("r1").await.unwrap().outage.unwrap();
    assert_eq!(outage.message.as_deref(), Some("ask again in 20 minutes"));
    worked(&runner, Duration::from_mins(19)).await;
    assert_eq!(model.asked().len(), 1);
    worked(&runner, Duration::from_mins(2)).await;
    assert_eq!(model.asked().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_operator_has_the_model_asked_at_once() {
    let (world, model) = (World::on_tokio_time(), Away::for_seconds(30, busy));
    let runner = world.process(&model);
    runner.start(NewRun::new("r1", "clerk", "go")).await.unwrap_err();
    sleep(Duration::from_mins(1)).await;
    assert!(runner.resume("r1").await.unwrap().ended().is_some());
}

#[tokio::test(start_paused = true)]
async fn an_outage_beyond_its_limit_ends_the_run_as_does_an_error_that_would_come_again() {
    let (world, model) = (World::on_tokio_time(), Away::for_seconds(u64::MAX >> 10, unreachable));
    let patient = world.agent(world.store(), &model).outage_limit(Duration::from_hours(2));
    let runner = Runner::builder().agent("clerk", patient.build().unwrap()).build().unwrap();
    runner.submit(NewRun::new("r1", "clerk", "go")).await.unwrap();
    worked(&runner, Duration::from_mins(119)).await;
    assert!(runner.head("r1").await.unwrap().ended.is_none());
    worked(&runner, Duration::from_mins(2)).await;
    let RunEnd::ModelFailed { kind, message, .. } = runner.wait("r1").await.unwrap() else {
        panic!("it ended")
    };
    assert_eq!(kind, "model_unreachable");
    assert!(message.contains("2.0 hours") && message.contains("nothing listens"), "{message}");

    let (world, model) = (World::on_tokio_time(), Away::for_seconds(60, refused));
    let runner = world.process(&model);
    let ended = runner.start(NewRun::new("r1", "clerk", "go")).await.unwrap();
    assert!(matches!(ended.ended(), Some(RunEnd::ModelFailed { kind, .. }) if kind == "wrong_key"));
}

/// Of 1,200 tokens each, of which the answer broke off.
fn cut_and_paid() -> ModelError {
    cut().taking(TotalUsage::of(Some(Usage::new(1_200, 0)), None).plus(TotalUsage::lost()))
}

/// A model that counts 1,200 tokens for a request that it does not take.
fn away_and_counted() -> ModelError {
    unreachable().taking(TotalUsage::of(Some(Usage::new(1_200, 0)), None))
}

#[tokio::test(start_paused = true)]
async fn the_fifth_request_in_vain_that_took_something_ends_the_run_by_name_with_what_all_took() {
    let (world, model) = (World::on_tokio_time(), Away::for_seconds(u64::MAX >> 10, cut_and_paid));
    let runner = world.process(&model);
    runner.submit(NewRun::new("r1", "clerk", "go")).await.unwrap();
    worked(&runner, Duration::from_mins(30)).await;
    let RunEnd::ModelFailed { kind, message, .. } = runner.wait("r1").await.unwrap() else {
        panic!("it ended")
    };
    assert_eq!((kind.as_str(), model.asked().len()), ("no_whole_answer", 5));
    assert!(message.starts_with("5 requests") && message.contains("was cut"), "{message}");
    let spent = runner.head("r1").await.unwrap().spent;
    assert_eq!((spent.usage.total(), spent.lost), (6_000, 5));
}

#[tokio::test(start_paused = true)]
async fn the_last_request_before_the_end_of_an_outage_is_counted() {
    let (world, model) =
        (World::on_tokio_time(), Away::for_seconds(u64::MAX >> 10, away_and_counted));
    let agent = world.agent(world.store(), &model).outage_limit(Duration::from_secs(3));
    let runner = Runner::builder().agent("clerk", agent.build().unwrap()).build().unwrap();
    runner.submit(NewRun::new("r1", "clerk", "go")).await.unwrap();
    worked(&runner, Duration::from_mins(1)).await;
    let head = runner.head("r1").await.unwrap();
    let asked = model.asked().len() as u64;
    assert!((2..5).contains(&asked), "{asked}");
    assert_eq!(
        (head.ended.as_deref(), head.spent.usage.total()),
        (Some("model_failed"), 1_200 * asked)
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cancelled_while_its_model_is_away_ends_at_once() {
    let (world, model) = (World::on_tokio_time(), Away::for_seconds(3_600, busy));
    let runner = world.process(&model);
    runner.start(NewRun::new("r1", "clerk", "go")).await.unwrap_err();
    runner.cancel("r1", "ada", "enough").await.unwrap();
    assert_eq!(runner.head("r1").await.unwrap().ended.as_deref(), Some("cancelled"));
    assert_eq!(model.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn who_runs_an_agent_by_an_id_waits_until_its_model_is_back() {
    let (world, model) = (World::on_tokio_time(), Away::for_seconds(45, unreachable));
    let agent = world.agent(world.store(), &model).name("clerk").build().unwrap();
    let result = agent.run("go").id("r1").await.unwrap();
    assert_eq!(result.text(), "Done.");
    assert!(model.asked().len() < 9, "{:?}", model.asked());
}

#[tokio::test]
async fn a_run_in_memory_stops_and_is_resumed() {
    let executor = Executor::builder(Registry::empty()).build().unwrap();
    let model = ScriptedModel::new().fails(unreachable()).says("Hello.");
    let agent = Agent::on(executor, model).build().unwrap();
    let mut chat = agent.chat();
    let stopped = chat.send("Good morning!").await.unwrap_err();
    assert_eq!(
        stopped.to_string(),
        "the model is unavailable: nothing listens there; resume the run, or start another, when the model is back"
    );
    assert_eq!(chat.resume().await.unwrap().text(), "Hello.");

    let executor = Executor::builder(Registry::empty()).build().unwrap();
    let model = ScriptedModel::new().fails(busy()).says("Hello.");
    let mut run = Agent::on(executor, model).build().unwrap().new_run("r1").start().unwrap();
    let stopped = run.send("Good morning!").await.unwrap_err();
    let wait = Some(Duration::from_mins(20));
    assert!(
        matches!(&stopped, Stopped::ModelUnreachable { retry_after, .. } if *retry_after == wait),
        "{stopped}"
    );
    assert!(matches!(run.resume().await.unwrap(), RunEnd::Text { .. }));
}

#[tokio::test(start_paused = true)]
async fn no_model_is_asked_while_its_answers_cannot_be_written_and_none_that_was_paid_is_lost() {
    let (world, model) = (World::on_tokio_time(), Away::for_seconds(0, unreachable));
    let store = Counting::of(&world);
    let failures = Arc::new(AtomicUsize::new(0));
    let runner = world.on(store.clone(), &model).on_failure({
        let failures = Arc::clone(&failures);
        move |_, _| _ = failures.fetch_add(1, Ordering::SeqCst)
    });
    let runner = runner.build().unwrap();
    for run in 0..4 {
        runner.submit(NewRun::new(format!("r{run}"), "clerk", "go")).await.unwrap();
    }
    store.fill(true);
    let work = tokio::spawn({
        let runner = runner.clone();
        async move { runner.work().await }
    });
    sleep(Duration::from_mins(10)).await;
    assert_eq!(model.asked().len(), 4, "each is asked once");
    store.fill(false);
    sleep(Duration::from_secs(20)).await;
    work.abort();
    for run in 0..4 {
        let head = runner.head(&format!("r{run}")).await.unwrap();
        assert_eq!((head.ended.as_deref(), head.epoch), (Some("text"), 2));
    }
    assert_eq!((model.asked().len(), failures.load(Ordering::SeqCst)), (4, 0));
}

/// The list of ended runs cannot be read when the last answer is there.
#[tokio::test(start_paused = true)]
async fn the_last_answer_of_a_run_is_held_while_the_journal_cannot_be_read() {
    let (world, model) = (World::on_tokio_time(), Away::for_seconds(0, unreachable));
    let store = Unreadable::of(world.store());
    let runner = world.on(store.clone(), &model).build().unwrap();
    runner.submit(NewRun::new("r1", "clerk", "go")).await.unwrap();
    store.hide_lists(true);
    let driving = tokio::spawn({
        let runner = runner.clone();
        async move { runner.resume("r1").await }
    });
    sleep(Duration::from_secs(20)).await;
    assert!(!driving.is_finished(), "it holds the answer");
    store.hide_lists(false);
    assert!(driving.await.unwrap().unwrap().ended().is_some());
    assert_eq!((model.asked().len(), runner.head("r1").await.unwrap().turn), (1, 1));
}
