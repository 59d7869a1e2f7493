//! A process that takes no new calls leaves its runs, as they are recorded, to the next one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::sync::Notify;
use toolwright::dialect::Dialect;
use toolwright::journal::{CommitError, MemoryStore, Store, Transaction};
use toolwright::{Executor, Registry, tool};
use toolwright_agent::durable::{NewRun, Phase, RunError, Runner, Runs};
use toolwright_agent::{Agent, Model, ModelAnswer, ModelError, ModelRequest, RunEnd, TotalUsage};

use super::process::{Deadly, Provider, SEND, World, calls, until_dead};

/// The lease of the executors.
const LEASE: Duration = Duration::from_secs(30);

/// A model during whose first answer the process begins to drain.
struct Draining {
    executor: Executor,
    provider: Arc<Provider>,
    is_first: AtomicBool,
}

impl Model for Draining {
    fn name(&self) -> &str {
        "draining"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async move {
            if self.is_first.swap(false, Ordering::SeqCst) {
                let _ = self.executor.drain(Duration::ZERO).await;
            }
            self.provider.answer(request).await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_is_left_to_the_next_process_where_this_one_takes_no_new_calls() {
    let world = World::new();
    let provider =
        Provider::new([calls([("send", r#"{"text":"hello"}"#)]), ModelAnswer::text("Done.")]);
    let executor = world.executor(world.store());
    let is_first = AtomicBool::new(true);
    let model = Draining { executor: executor.clone(), provider: Arc::clone(&provider), is_first };
    let agent = Agent::on(executor, model).build().unwrap();
    let agents = Runner::builder().agent("clerk", agent).build().unwrap();

    let left = agents.start(NewRun::new("r1", "clerk", "go")).await.unwrap_err();
    assert_eq!(left, RunError::ShuttingDown { run: "r1".into() });
    // What the model said is recorded, and is not asked for again.
    let head = agents.head("r1").await.unwrap();
    assert_eq!((head.phase, head.turn, head.lease), (Phase::Calling, 1, None));
    assert_eq!(agents.resume("r1").await.unwrap_err(), left);
    assert_eq!((provider.asked(), world.log.lines().len()), (1, 0));

    let next = world.process(&provider);
    assert!(matches!(next.wait("r1").await.unwrap(), RunEnd::Text { .. }));
    assert_eq!((provider.asked(), world.log.lines().len()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn who_works_takes_no_run_of_an_executor_that_is_drained() {
    let (world, model) = (World::new(), Provider::new([ModelAnswer::text("Done.")]));
    let store: Arc<dyn Store> = Arc::new(world.store());
    let executor = || {
        let tools = Registry::of([SEND]).unwrap();
        let builder = world.executor_of(world.store(), tools).unrestricted();
        builder.journal(world.journal(Arc::clone(&store))).build().unwrap()
    };
    let (drained, other) = (executor(), executor());
    let agent =
        |executor: &Executor| Agent::on(executor.clone(), Arc::clone(&model)).build().unwrap();
    let agents = Runner::builder().agent("clerk", agent(&drained)).agent("other", agent(&other));
    let agents = agents.build().unwrap();
    agents.submit(NewRun::new("r1", "clerk", "go")).await.unwrap();
    let epoch = agents.head("r1").await.unwrap().epoch;
    let _ = drained.drain(Duration::ZERO).await;
    let worker = agents.clone();
    let working = tokio::spawn(async move { worker.work().await });
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(agents.head("r1").await.unwrap().epoch, epoch, "it was taken and given back");
    working.abort();
}

#[tokio::test(start_paused = true)]
async fn who_works_stops_when_the_process_is_drained() {
    let (world, model) = (World::new(), Provider::new([]));
    let executor = world.executor(world.store());
    let agent = Agent::on(executor.clone(), model).build().unwrap();
    let agents = Runner::builder().agent("clerk", agent).build().unwrap();
    let working = tokio::spawn(async move { agents.work().await });
    let _ = executor.drain(Duration::from_secs(5)).await;
    let ended = tokio::time::timeout(LEASE, working).await;
    ended.expect("it ends at once").unwrap().unwrap();
}

/// A model that never answers.
struct Silent(Arc<Notify>);

impl Model for Silent {
    fn name(&self) -> &str {
        "silent"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(&'a self, _: ModelRequest<'a>) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        self.0.notify_one();
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn who_is_drained_while_the_model_thinks_gives_the_run_back_at_once() {
    let (world, asked) = (World::new(), Arc::new(Notify::new()));
    let executor = world.executor(world.store());
    let agent = Agent::on(executor.clone(), Silent(Arc::clone(&asked))).build().unwrap();
    let agents = Runner::builder().agent("clerk", agent).build().unwrap();
    agents.submit(NewRun::new("r1", "clerk", "go")).await.unwrap();
    let worker = agents.clone();
    let working = tokio::spawn(async move { worker.work().await });
    asked.notified().await;
    assert!(agents.head("r1").await.unwrap().lease.is_some());
    let _ = executor.drain(Duration::from_secs(5)).await;
    let ended = tokio::time::timeout(Duration::from_secs(5), working).await;
    ended.expect("it ends without an answer").unwrap().unwrap();
    let head = agents.head("r1").await.unwrap();
    assert_eq!((head.phase, head.lease, head.crashes), (Phase::Asking, None, None));
    assert_eq!(head.spent, TotalUsage::lost(), "the request may have cost something");
}

#[tokio::test(start_paused = true)]
async fn a_process_that_is_drained_leaves_the_count_of_the_crashes_as_it_was() {
    let (world, silent) = (World::new(), Arc::new(Silent(Arc::default())));
    let (store, dead) = Deadly::at(&world, 2);
    let first = world.on(store, &silent).build().unwrap();
    let begun = until_dead(first.start(NewRun::new("r1", "clerk", "go")), &dead).await;
    assert!(begun.is_none(), "it dies");
    drop(first);
    world.pass(Duration::from_mins(2));
    let (executor, asked) = (world.executor(world.store()), Arc::new(Notify::new()));
    let agent = Agent::on(executor.clone(), Silent(Arc::clone(&asked))).build().unwrap();
    let agents = Runner::builder().agent("clerk", agent).build().unwrap();
    let worker = agents.clone();
    let working = tokio::spawn(async move { worker.work().await });
    asked.notified().await;
    let _ = executor.drain(Duration::from_secs(5)).await;
    working.await.unwrap().unwrap();
    let head = agents.head("r1").await.unwrap();
    assert_eq!((head.lease, head.crashes.map(|it| it.drivers)), (None, Some(1)));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cancelled_while_the_model_thinks_ends_and_counts_the_request() {
    let (world, asked) = (World::new(), Arc::new(Notify::new()));
    let executor = world.executor(world.store());
    let agent = Agent::on(executor, Silent(Arc::clone(&asked))).build().unwrap();
    let agents = Runner::builder().agent("clerk", agent).build().unwrap();
    let driver = agents.clone();
    let driven = tokio::spawn(async move { driver.start(NewRun::new("r1", "clerk", "go")).await });
    asked.notified().await;
    let runs = Runs::of(Arc::new(world.store()));
    assert!(runs.cancel("r1", "ada", "enough", world.now()).await.unwrap());
    let ended = driven.await.unwrap().unwrap();
    assert!(matches!(ended.ended(), Some(RunEnd::Cancelled)), "{ended}");
    assert_eq!(agents.head("r1").await.unwrap().spent, TotalUsage::lost());
}

/// A journal that from some moment on answers no commit.
struct Mute {
    inner: MemoryStore,
    is_mute: Arc<AtomicBool>,
}

impl Store for Mute {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        Box::pin(async move {
            if self.is_mute.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            self.inner.commit(unit, now).await
        })
    }

    toolwright::pass_on_leases!(inner);
    toolwright::pass_on_questions!(inner);
}

#[tokio::test(start_paused = true)]
async fn who_is_drained_while_the_journal_does_not_answer_leaves_its_runs_after_a_lease() {
    let (world, asked) = (World::new(), Arc::new(Notify::new()));
    let is_mute = Arc::new(AtomicBool::new(false));
    let executor = world.executor(Mute { inner: world.store(), is_mute: Arc::clone(&is_mute) });
    let agent = Agent::on(executor.clone(), Silent(Arc::clone(&asked))).build().unwrap();
    let failures = Arc::new(Mutex::new(Vec::new()));
    let reported = Arc::clone(&failures);
    let agents = Runner::builder().agent("clerk", agent);
    let agents =
        agents.on_failure(move |_, error| reported.lock().unwrap().push(error.to_string()));
    let agents = agents.build().unwrap();
    agents.submit(NewRun::new("r1", "clerk", "go")).await.unwrap();
    let working = tokio::spawn(async move { agents.work().await });
    asked.notified().await;
    is_mute.store(true, Ordering::SeqCst);
    let _ = executor.drain(Duration::from_secs(5)).await;
    let ended = tokio::time::timeout(LEASE * 2, working).await;
    ended.expect("it ends without the journal").unwrap().unwrap();
    assert_eq!(
        *failures.lock().unwrap(),
        [
            "run `r1` was not given up within its lease of 30s after the process was drained; another process goes on with it \
          when its lease has ended"
        ]
    );

    world.pass(LEASE * 2);
    let next = world.process(&Provider::new([ModelAnswer::text("Done.")]));
    assert!(matches!(next.wait("r1").await.unwrap(), RunEnd::Text { .. }));
}

/// Takes longer than a lease.
#[tool(effect = once, timeout = "10m")]
async fn wait_long(started: &Notify) -> String {
    started.notify_one();
    tokio::time::sleep(LEASE * 3).await;
    "It is over.".to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_longer_than_a_lease_ends_within_the_grace_and_its_run_is_given_back() {
    let (world, started) = (World::new(), Arc::new(Notify::new()));
    let tools = Registry::of([WAIT_LONG]).unwrap();
    let executor = world.executor_of(world.store(), tools).unrestricted();
    let executor = executor.service_arc(Arc::clone(&started)).build().unwrap();
    let model = Provider::new([calls([("wait_long", "{}")])]);
    let agent = Agent::on(executor.clone(), model).build().unwrap();
    let agents = Runner::builder().agent("clerk", agent).build().unwrap();
    agents.submit(NewRun::new("r1", "clerk", "go")).await.unwrap();
    let worker = agents.clone();
    let working = tokio::spawn(async move { worker.work().await });
    started.notified().await;
    let drained = executor.drain(LEASE * 10).await;
    assert_eq!(drained.cancelled, 0);
    tokio::time::timeout(LEASE, working).await.expect("it ends").unwrap().unwrap();
    let head = agents.head("r1").await.unwrap();
    assert_eq!((head.phase, head.turn, head.lease), (Phase::Asking, 1, None));
}
