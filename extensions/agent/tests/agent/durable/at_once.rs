//! What runs cost: how many go on at once, how often one is tried that cannot go on, and whether its calls are acknowledged.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use toolwright::dialect::Dialect;
use toolwright::journal::{CommitError, Filter, MemoryStore, Page, Store, StoreError, Transaction};
use toolwright::retry::{CircuitBreaker, RetryPolicy};
use toolwright::{Call, ErrorClass, Registry, ToolError, tool};
use toolwright_agent::durable::{NewRun, Phase, RunError, Runner};
use toolwright_agent::{Agent, Model, ModelAnswer, ModelError, ModelRequest};

use super::process::{Deadly, Provider, World, calls, until_dead};

/// A store that counts commits, and refuses those of a model's answer while it is full.
#[derive(Clone)]
pub struct Counting {
    inner: MemoryStore,
    commits: Arc<AtomicU64>,
    is_full: Arc<AtomicBool>,
    is_replaced: Arc<AtomicBool>,
}

impl Counting {
    pub fn of(world: &World) -> Self {
        Self {
            inner: world.store(),
            commits: Arc::default(),
            is_full: Arc::default(),
            is_replaced: Arc::default(),
        }
    }

    pub fn fill(&self, is_full: bool) {
        self.is_full.store(is_full, Ordering::SeqCst);
    }

    /// Has somebody put another journal in its place, or the first one back.
    pub fn replace(&self, is_replaced: bool) {
        self.is_replaced.store(is_replaced, Ordering::SeqCst);
    }

    fn commits(&self) -> u64 {
        self.commits.load(Ordering::SeqCst)
    }
}

impl Store for Counting {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        if self.commits.fetch_add(1, Ordering::SeqCst) > 1_000 {
            // Who commits without end would stop the clock of the test.
            return Box::pin(std::future::pending());
        }
        let is_answer = unit.documents.iter().any(|it| it.key.ends_with("/answer"));
        if is_answer && self.is_full.load(Ordering::SeqCst) {
            return Box::pin(async { Err(StoreError::full("the disk is full").into()) });
        }
        if is_answer && self.is_replaced.load(Ordering::SeqCst) {
            return Box::pin(async { Err(StoreError::invalid("the journal was replaced").into()) });
        }
        self.inner.commit(unit, now)
    }

    toolwright::pass_on_leases!(inner);
    toolwright::pass_on_questions!(inner);
}

/// A model that thinks for a minute.
#[derive(Default)]
pub struct Slow {
    asked: AtomicUsize,
    most: AtomicUsize,
}

impl Model for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(&'a self, _: ModelRequest<'a>) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async {
            let asked = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(asked, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_mins(1)).await;
            self.asked.fetch_sub(1, Ordering::SeqCst);
            Ok(ModelAnswer::text("Done."))
        })
    }
}

/// Works for so long.
async fn worked(agents: &Runner, time: Duration) {
    assert!(tokio::time::timeout(time, agents.work()).await.is_err(), "it works on");
}

/// What works at once, and the most of it that did.
#[derive(Default)]
struct Working {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// Works for some seconds.
#[tool(effect = read)]
async fn dig(working: &Working) {
    let now = working.now.fetch_add(1, Ordering::SeqCst) + 1;
    working.most.fetch_max(now, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(15)).await;
    working.now.fetch_sub(1, Ordering::SeqCst);
}

#[tokio::test(start_paused = true)]
async fn a_process_runs_calls_of_no_more_runs_at_once_than_it_may_and_of_all_in_the_end() {
    let (world, working) = (World::on_tokio_time(), Arc::new(Working::default()));
    let executor = world.executor_of(world.store(), Registry::of([DIG]).unwrap());
    let executor = executor.service_arc(Arc::clone(&working)).unrestricted().build().unwrap();
    let model = Provider::new([calls([("dig", "{}")]), ModelAnswer::text("Done.")]);
    let agent = Agent::on(executor, model).build().unwrap();
    let two = NonZeroUsize::new(2).unwrap();
    let agents = Runner::builder().agent("clerk", agent).runs_at_once(two).build().unwrap();
    for run in 0..5 {
        agents.submit(NewRun::new(format!("r{run}"), "clerk", "go")).await.unwrap();
    }
    worked(&agents, Duration::from_secs(200)).await;
    assert_eq!(working.most.load(Ordering::SeqCst), 2);
    for run in 0..5 {
        let head = agents.head(&format!("r{run}")).await.unwrap();
        // No other driver took a run whose driver waited for a place.
        assert_eq!((head.phase, head.epoch), (Phase::Ended, 2));
    }
}

#[tokio::test(start_paused = true)]
async fn runs_that_wait_for_their_models_take_no_place_of_those_that_work() {
    let (world, model) = (World::on_tokio_time(), Arc::new(Slow::default()));
    let one = world.on(world.store(), &model).runs_at_once(NonZeroUsize::MIN);
    let agents = one.build().unwrap();
    for run in 0..15 {
        agents.submit(NewRun::new(format!("r{run}"), "clerk", "go")).await.unwrap();
    }
    worked(&agents, Duration::from_secs(150)).await;
    assert_eq!(model.most.load(Ordering::SeqCst), 10);
    assert!(agents.head("r14").await.unwrap().ended.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_answer_can_never_be_written_is_asked_for_less_and_less_often() {
    let (world, model) = (World::new(), Provider::new([ModelAnswer::text("Done.")]));
    let store = Counting::of(&world);
    let agents = world.on(store.clone(), &model).build().unwrap();
    agents.submit(NewRun::new("r1", "clerk", "go")).await.unwrap();
    store.replace(true);
    worked(&agents, Duration::from_mins(20)).await;
    assert!((6..=12).contains(&model.asked()), "{} requests", model.asked());
    store.replace(false);
    assert!(agents.resume("r1").await.unwrap().ended().is_some());
}

/// Why a person is asked.
fn costs(amount: &u32) -> Option<String> {
    (*amount > 0).then(|| "it costs".to_owned())
}

/// Charges an account; of nothing, it fails.
#[tool(effect = idempotent, approval = costs(&amount))]
async fn charge(
    /// How much.
    amount: u32,
) -> Result<String, ToolError> {
    match amount {
        0 => Err(ToolError::new("away", "the bank is away").class(ErrorClass::Transient)),
        amount => Ok(format!("charged {amount}")),
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_may_go_on_and_does_not_costs_a_commit_now_and_then() {
    let world = World::new();
    let model =
        Provider::new([calls([("charge", r#"{"amount":3}"#)]), ModelAnswer::text("Charged.")]);
    let store = Counting::of(&world);
    let executor = world
        .executor_of(store.clone(), Registry::of([CHARGE]).unwrap())
        .unrestricted()
        .retry(RetryPolicy::NONE)
        .circuit_breaker(CircuitBreaker::new(1, Duration::from_mins(2)))
        .build()
        .unwrap();
    let agent = Agent::on(executor.clone(), Arc::clone(&model)).build().unwrap();
    let agents = Runner::builder().agent("clerk", agent).build().unwrap();
    let waits = agents.start(NewRun::new("r1", "clerk", "charge")).await.unwrap();
    let call = waits.waiting().unwrap().calls[0].call;
    assert!(executor.call(&Call::new("charge", r#"{"amount":0}"#)).await.is_error());
    world.approve(call).await;

    let before = store.commits();
    worked(&agents, Duration::from_secs(60)).await;
    assert_eq!(agents.head("r1").await.unwrap().phase, Phase::Waiting);
    let commits = store.commits() - before;
    assert!((1..=40).contains(&commits), "{commits} commits in a minute");
    worked(&agents, Duration::from_mins(3)).await;
    assert_eq!(agents.head("r1").await.unwrap().ended.as_deref(), Some("text"));
}

#[tokio::test(start_paused = true)]
async fn every_call_of_a_run_that_ended_is_acknowledged_wherever_its_drivers_died() {
    for at in 0.. {
        let world = World::new();
        let model = Provider::new([
            calls([("send", r#"{"text":"one"}"#)]),
            calls([("send", r#"{"text":"two"}"#)]),
            ModelAnswer::text("Done."),
        ]);
        let (store, dead) = Deadly::at(&world, at);
        // The second turn is its last, so that it ends with answers, and what is left is said after those of the first.
        let agent = world.agent(store, &model).max_turns(2).report_budget().build().unwrap();
        let first = Runner::builder().agent("clerk", agent).build().unwrap();
        let run = || NewRun::new("r1", "clerk", "go");
        let is_whole = until_dead(first.start(run()), &dead).await.is_some();
        drop(first);
        world.pass(Duration::from_mins(2));
        let agent =
            world.agent(world.store(), &model).max_turns(2).report_budget().build().unwrap();
        let second = Runner::builder().agent("clerk", agent).build().unwrap();
        if matches!(second.head("r1").await, Err(RunError::NoSuchRun { .. })) {
            continue;
        }
        worked(&second, Duration::from_secs(20)).await;
        let head = second.head("r1").await.unwrap();
        assert_eq!(head.ended.as_deref(), Some("limit"), "commit {at}");
        let undelivered = Filter { delivered: Some(false), ..Filter::default() };
        let left = world.store().list(&undelivered, Page::first(9)).await.unwrap().calls;
        assert!(left.is_empty(), "commit {at}: {} calls", left.len());
        assert!(world.store().documents("runs/open/").await.unwrap().is_empty(), "commit {at}");
        assert_eq!(world.store().documents("runs/ended/").await.unwrap().len(), 1, "commit {at}");
        if is_whole {
            assert!(at > 10, "there are more commits than {at}");
            break;
        }
    }
}
