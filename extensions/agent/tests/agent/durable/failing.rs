//! The store fails at each commit of a run: the disk is full, or the reply is lost.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::time::{Instant, sleep};
use toolwright::journal::{CommitError, MemoryStore, Store, StoreError, Transaction};
use toolwright::{Registry, tool};
use toolwright_agent::durable::{NewRun, Progress, RunError, Runner};
use toolwright_agent::{Agent, Limit, ModelAnswer, RunEnd, check};

use super::process::{Deadly, Provider, World, calls, until_dead};
use super::unreadable::Unreadable;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// Nothing is written, and says so.
    Full,
    /// Everything is written, and the reply is an error.
    LostReply,
}

/// A store with a fault at one of its commits.
struct Failing {
    inner: MemoryStore,
    fault: Fault,
    at: u64,
    seen: Arc<AtomicU64>,
}

impl Store for Failing {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        Box::pin(async move {
            match (self.seen.fetch_add(1, Ordering::SeqCst) == self.at, self.fault) {
                (false, _) => self.inner.commit(unit, now).await,
                (true, Fault::Full) => Err(StoreError::full("the disk is full").into()),
                (true, Fault::LostReply) => {
                    self.inner.commit(unit, now).await?;
                    Err(StoreError::unavailable("the connection was cut").into())
                }
            }
        })
    }

    toolwright::pass_on_leases!(inner);
    toolwright::pass_on_questions!(inner);
}

fn provider() -> Arc<Provider> {
    Provider::new([
        calls([("find", r#"{"word":"tea"}"#), ("send", r#"{"text":"hello"}"#)]),
        calls([("send", r#"{"text":"again"}"#)]),
        ModelAnswer::text("Done."),
    ])
}

fn run() -> NewRun {
    NewRun::new("r1", "clerk", "greet them")
}

fn is_done(progress: &Progress) -> bool {
    matches!(progress.ended(), Some(RunEnd::Text { text, .. }) if text == "Done.")
}

/// What another process makes of the run, once the lease of the first has ended.
async fn taken_up(agents: &Runner) -> Progress {
    match agents.resume("r1").await {
        Err(RunError::NoSuchRun { .. }) => agents.start(run()).await.unwrap(),
        resumed => resumed.unwrap(),
    }
}

async fn history(agents: &Runner) -> String {
    let history = agents.history("r1").await.unwrap();
    assert!(check(&history).unwrap().is_empty());
    serde_json::to_string(&history).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_store_fails_at_any_commit_goes_on_and_sends_nothing_twice() {
    let world = World::new();
    let agents = world.process(&provider());
    agents.start(run()).await.unwrap();
    let expected = history(&agents).await;
    for fault in [Fault::Full, Fault::LostReply] {
        let mut failed = 0;
        for at in 0.. {
            let (world, model, seen) = (World::new(), provider(), Arc::new(AtomicU64::new(0)));
            let store = Failing { inner: world.store(), fault, at, seen: Arc::clone(&seen) };
            let first = world.on(store, &model).build().unwrap();
            let outcome = first.start(run()).await;
            drop(first);
            if seen.load(Ordering::SeqCst) <= at {
                assert!(is_done(&outcome.unwrap()));
                assert!(at > 8, "there are more commits than {at}");
                break;
            }
            world.pass(Duration::from_mins(2));
            let second = world.process(&model);
            let progress = match outcome {
                Ok(progress) => progress,
                Err(_) => {
                    failed += 1;
                    taken_up(&second).await
                }
            };
            assert!(is_done(&progress), "{fault:?} at commit {at}");
            assert_eq!(history(&second).await, expected, "{fault:?} at commit {at}");
            let lines = world.log.lines();
            let sent: Vec<&String> = lines.iter().filter(|it| it.starts_with("send")).collect();
            let keys: BTreeSet<&&String> = sent.iter().collect();
            assert_eq!(keys.len(), 2, "{fault:?} at commit {at}: {sent:?}");
            if fault == Fault::LostReply {
                // What was committed is looked up, and nothing is done again.
                assert_eq!((sent.len(), model.asked()), (2, 3), "commit {at}");
            }
        }
        // A full disk ends the process's part of the run; a lost reply does not.
        assert_eq!(failed > 0, fault == Fault::Full, "{fault:?}: {failed}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_answers_differently_after_a_restart_is_not_asked_for_what_is_recorded() {
    let (world, model) = (World::new(), provider());
    // It dies after the commit of the first answer.
    let (store, dead) = Deadly::at(&world, 3);
    let first = world.on(store, &model).build().unwrap();
    assert!(until_dead(first.start(run()), &dead).await.is_none());
    drop(first);
    world.pass(Duration::from_mins(2));
    let other = Provider::new([
        calls([("pay", r#"{"amount":100}"#)]),
        calls([("send", r#"{"text":"other"}"#)]),
        ModelAnswer::text("Done."),
    ]);
    let second = world.process(&other);
    assert!(is_done(&second.resume("r1").await.unwrap()));
    let history = history(&second).await;
    assert!(history.contains("sent hello") && history.contains("sent other"), "{history}");
    assert!(!history.contains("pay"), "{history}");
    assert_eq!((model.asked(), other.asked()), (1, 2));
}

/// Sleeps for an hour. From then on the journal does not say whether the run was cancelled.
#[tool(effect = read)]
async fn nap(store: &Unreadable) {
    store.hide("run/r1/cancel", 0..usize::MAX);
    sleep(Duration::from_hours(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_time_limit_ends_a_run_although_its_cancellation_cannot_be_read() {
    let world = World::on_tokio_time();
    let store = Unreadable::of(world.store());
    let executor = world.executor_of(store.clone(), Registry::of([NAP]).unwrap());
    let executor = executor.unrestricted().service(store.clone()).build().unwrap();
    let agent = Agent::on(executor, Provider::new([calls([("nap", "{}")])]));
    let agent = agent.max_duration(Duration::from_secs(10)).build().unwrap();
    let agents = Runner::builder().agent("clerk", agent).build().unwrap();
    let begun = Instant::now();
    let ended = agents.start(NewRun::new("r1", "clerk", "rest")).await.unwrap();
    let is_late = matches!(ended.ended(), Some(RunEnd::Limit(Limit::Time { .. })));
    assert!(is_late, "{ended}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    assert!(store.reads() < 1_000, "{} reads", store.reads());
}
