//! A process that takes no new calls leaves its runs, as they are recorded, to the next one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::Notify;
use toolwright::dialect::Dialect;
use toolwright::journal::Store;
use toolwright::{Executor, Registry};
use toolwright_agent::durable::{Agents, NewRun, Phase, RunError};
use toolwright_agent::{Agent, Ended, Model, ModelAnswer, ModelError, ModelRequest};

use super::process::{Provider, SEND, World, calls};

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
    let agent = Agent::builder(executor, model).build().unwrap();
    let agents = Agents::builder().agent("clerk", agent).build().unwrap();

    let left = agents.start(NewRun::new("r1", "clerk", "go")).await.unwrap_err();
    assert_eq!(left, RunError::ShuttingDown { run: "r1".into() });
    // What the model said is recorded, and is not asked for again.
    let head = agents.head("r1").await.unwrap();
    assert_eq!((head.phase, head.turn, head.lease), (Phase::Calling, 1, None));
    assert_eq!(agents.resume("r1").await.unwrap_err(), left);
    assert_eq!((provider.asked(), world.log.lines().len()), (1, 0));

    let next = world.process(&provider);
    assert!(matches!(next.wait("r1").await.unwrap(), Ended::Text { .. }));
    assert_eq!((provider.asked(), world.log.lines().len()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn who_works_takes_no_run_of_an_executor_that_is_drained() {
    let (world, model) = (World::new(), Provider::new([ModelAnswer::text("Done.")]));
    let store: Arc<dyn Store> = Arc::new(world.store());
    let executor = || {
        let tools = Registry::of([SEND]).unwrap();
        let builder = world.executor_of(world.store(), tools).unrestricted();
        builder.journal_arc(Arc::clone(&store)).build().unwrap()
    };
    let (drained, other) = (executor(), executor());
    let agent =
        |executor: &Executor| Agent::builder(executor.clone(), Arc::clone(&model)).build().unwrap();
    let agents = Agents::builder().agent("clerk", agent(&drained)).agent("other", agent(&other));
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
    let agent = Agent::builder(executor.clone(), model).build().unwrap();
    let agents = Agents::builder().agent("clerk", agent).build().unwrap();
    let working = tokio::spawn(async move { agents.work().await });
    let _ = executor.drain(Duration::from_secs(5)).await;
    working.await.unwrap().unwrap();
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
    let agent = Agent::builder(executor.clone(), Silent(Arc::clone(&asked))).build().unwrap();
    let agents = Agents::builder().agent("clerk", agent).build().unwrap();
    agents.submit(NewRun::new("r1", "clerk", "go")).await.unwrap();
    let worker = agents.clone();
    let working = tokio::spawn(async move { worker.work().await });
    asked.notified().await;
    assert!(agents.head("r1").await.unwrap().lease.is_some());
    let _ = executor.drain(Duration::from_secs(5)).await;
    let ended = tokio::time::timeout(Duration::from_secs(5), working).await;
    ended.expect("it ends without an answer").unwrap().unwrap();
    let head = agents.head("r1").await.unwrap();
    assert_eq!((head.phase, head.lease, head.deaths), (Phase::Asking, None, None));
}
