//! Sub-agents of recorded runs: killed at any commit and started again, nothing of them is asked or done twice.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use toolwright::journal::{
    CallRecord, CommitError, Filter, MemoryStore, Page, State, Store, StoreError, Transaction,
};
use toolwright::tool;
use toolwright_agent::durable::{NewRun, Phase, RunError, Runner};
use toolwright_agent::{Agent, ModelAnswer, RunEnd, SubAgent};

use super::{answers, task};
use crate::durable::process::{Deadly, FIND, PAY, Provider, SEND, World, calls, until_dead};
use crate::support::Log;

/// A process: the clerk, whose model gives tasks to the worker.
fn process(
    world: &World,
    store: impl Store,
    clerk: &Arc<Provider>,
    worker: &Arc<Provider>,
) -> Runner {
    let worker = SubAgent::new("worker", "Works.").model(Arc::clone(worker));
    let agent = Agent::builder(Arc::clone(clerk))
        .tools([FIND, SEND, PAY])
        .service(world.log.clone())
        .unrestricted()
        .journal(world.journal(Arc::new(store)))
        .sub_agent(worker)
        .build()
        .unwrap();
    Runner::builder().agent("clerk", agent).build().unwrap()
}

fn clerk() -> Arc<Provider> {
    Provider::new([calls([("spawn_agent", task("worker").as_str())]), ModelAnswer::text("Done.")])
}

fn worker(calls_of: &[&[(&str, &str)]]) -> Arc<Provider> {
    let answers = calls_of.iter().map(|it| calls(it.iter().copied()));
    Provider::new(answers.chain([ModelAnswer::text("Worked.")]))
}

fn lines(world: &World, word: &str) -> BTreeSet<String> {
    world.log.lines().into_iter().filter(|line| line.starts_with(word)).collect()
}

/// The calls that people are asked about.
async fn pending(world: &World) -> Vec<CallRecord> {
    let filter = Filter { states: vec![State::Pending], ..Filter::default() };
    world.store().list(&filter, Page::first(10)).await.unwrap().calls
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_dies_at_any_commit_goes_on_and_does_nothing_twice() {
    let work: &[&[(&str, &str)]] = &[
        &[("find", r#"{"word":"tea"}"#), ("send", r#"{"text":"hello"}"#)],
        &[("send", r#"{"text":"again"}"#)],
    ];
    for at in 0.. {
        let (world, clerk, worker) = (World::new(), clerk(), worker(work));
        let (store, dead) = Deadly::at(&world, at);
        let first = process(&world, store, &clerk, &worker);
        let run = || NewRun::new("r1", "clerk", "greet them");
        if let Some(ended) = until_dead(first.start(run()), &dead).await {
            assert!(ended.unwrap().ended().is_some());
            assert!(at > 20, "there are more commits than {at}");
            break;
        }
        drop(first);
        let second = process(&world, world.store(), &clerk, &worker);
        world.pass(Duration::from_mins(2));
        let resumed = match second.resume("r1").await {
            Err(RunError::NoSuchRun { .. }) => second.start(run()).await,
            resumed => resumed,
        };
        let resumed = resumed.unwrap();
        assert!(
            matches!(resumed.ended(), Some(RunEnd::Text { text, .. }) if text == "Done."),
            "commit {at}: {resumed}"
        );
        let history = second.history("r1").await.unwrap();
        let answer = &answers(&history, 0)[0];
        assert_eq!((&answer["answer"], &answer["turns"]), (&"Worked.".into(), &3.into()), "{at}");
        assert_eq!(lines(&world, "send").len(), 2, "commit {at}: each message has one key");
        let asked = clerk.asked() + worker.asked();
        assert!((5..=6).contains(&asked), "commit {at}: {asked} requests");
        assert_eq!(second.head("r1").await.unwrap().spent.unmeasured, 5, "commit {at}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_agent_asks_a_person_waits_without_a_process_and_goes_on_in_another() {
    let work: &[&[(&str, &str)]] =
        &[&[("send", r#"{"text":"hello"}"#)], &[("pay", r#"{"amount":3}"#)]];
    let (world, clerk, worker) = (World::new(), clerk(), worker(work));
    let first = process(&world, world.store(), &clerk, &worker);
    let progress = first.start(NewRun::new("r1", "clerk", "pay them")).await.unwrap();
    let waiting = progress.waiting().expect("it waits");
    assert_eq!((waiting.calls.len(), &*waiting.calls[0].tool), (1, "spawn_agent"));
    drop(first);
    let pending = pending(&world).await;
    assert_eq!(pending.len(), 1);
    assert_eq!(pending[0].requester.agent, "agent:r1/worker");
    assert_eq!((lines(&world, "pay").len(), worker.asked()), (0, 2));

    world.approve(pending[0].id).await;
    let second = process(&world, world.store(), &clerk, &worker);
    let working = tokio::spawn({
        let second = second.clone();
        async move { second.work().await }
    });
    while second.head("r1").await.unwrap().phase != Phase::Ended {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    working.abort();
    let history = second.history("r1").await.unwrap();
    assert_eq!(answers(&history, 0)[0]["answer"], "Worked.");
    assert_eq!((lines(&world, "pay").len(), lines(&world, "send").len()), (1, 1));
    assert_eq!((clerk.asked(), worker.asked()), (2, 3));

    // What it has left goes with the run.
    let documents = || async { world.store().documents("run/r1/").await.unwrap().len() };
    assert!(documents().await > 4);
    second.remove("r1").await.unwrap();
    assert_eq!(documents().await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cancelled_while_its_agent_waits_ends_with_it() {
    let (world, clerk, worker) = (World::new(), clerk(), worker(&[&[("pay", r#"{"amount":3}"#)]]));
    let agents = process(&world, world.store(), &clerk, &worker);
    agents.start(NewRun::new("r1", "clerk", "pay them")).await.unwrap();
    agents.cancel("r1", "ada", "not any more").await.unwrap();
    assert_eq!(agents.head("r1").await.unwrap().phase, Phase::Ended);
    assert!(pending(&world).await.is_empty());
    assert_eq!((lines(&world, "pay").len(), worker.asked()), (0, 1));
}

/// Cures what is rare.
#[tool(name = "rare", effect = keyed, deferred)]
async fn rare(log: &Log) -> String {
    log.add("rare".to_owned());
    "cured".to_owned()
}

/// Cures what is rare.
#[tool(name = "rare", effect = keyed)]
async fn no_longer_rare(log: &Log) -> String {
    log.add("rare".to_owned());
    "cured".to_owned()
}

/// A call that was answered without being made keeps the number of those behind it, also where it is made when the agent begins again.
#[tokio::test(start_paused = true)]
async fn a_call_that_was_not_made_shifts_none_behind_it_when_its_agent_begins_again() {
    let work: &[&[(&str, &str)]] =
        &[&[("rare", "{}"), ("send", r#"{"text":"hello"}"#)], &[("pay", r#"{"amount":3}"#)]];
    let (world, clerk, worker) = (World::new(), clerk(), worker(work));
    let process = |tool| {
        let sub_agent = SubAgent::new("worker", "Works.").model(Arc::clone(&worker));
        let agent = Agent::builder(Arc::clone(&clerk))
            .tools([FIND, SEND, PAY, tool])
            .service(world.log.clone())
            .unrestricted()
            .journal(world.journal(Arc::new(world.store())))
            .sub_agent(sub_agent);
        Runner::builder().agent("clerk", agent.build().unwrap()).build().unwrap()
    };
    let first = process(RARE);
    let progress = first.start(NewRun::new("r1", "clerk", "pay them")).await.unwrap();
    assert!(progress.waiting().is_some(), "{progress}");
    assert_eq!((lines(&world, "rare").len(), lines(&world, "send").len()), (0, 1));
    drop(first);
    world.approve(pending(&world).await[0].id).await;
    world.pass(Duration::from_mins(2));
    let second = process(NO_LONGER_RARE);
    let working = tokio::spawn({
        let second = second.clone();
        async move { second.work().await }
    });
    let end = tokio::time::timeout(Duration::from_hours(1), second.wait("r1")).await;
    let end = end.expect("nothing waits for a person again").unwrap();
    working.abort();
    assert!(matches!(end, RunEnd::Text { .. }), "{end}");
    assert_eq!((lines(&world, "pay").len(), lines(&world, "send").len()), (1, 1));
    assert!(pending(&world).await.is_empty());
}

/// A store that fails so many times in succession at the commits of a sub-agent.
struct Away {
    inner: MemoryStore,
    fault: Fault,
    left: AtomicU32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    Full,
    LostReply,
}

impl Away {
    fn fails(&self) -> bool {
        let less = |left: u32| left.checked_sub(1);
        self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok()
    }
}

fn is_of_agent(key: &str) -> bool {
    key.contains("/children/") || key.contains("/agents/")
}

impl Store for Away {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        Box::pin(async move {
            let is_of_agent = unit.documents.iter().any(|it| is_of_agent(&it.key));
            if !is_of_agent || !self.fails() {
                return self.inner.commit(unit, now).await;
            }
            if self.fault == Fault::Full {
                return Err(StoreError::full("the disk is full").into());
            }
            self.inner.commit(unit, now).await?;
            Err(StoreError::unavailable("the connection was cut").into())
        })
    }

    toolwright::pass_on_leases!(inner);
    toolwright::pass_on_questions!(inner);
}

/// What was paid for is held until the journal can take it, and what is recorded although its reply was lost is not written twice.
#[tokio::test(start_paused = true)]
async fn a_journal_that_fails_for_a_while_ends_no_agent_and_has_nothing_asked_twice() {
    let work: &[&[(&str, &str)]] =
        &[&[("find", r#"{"word":"tea"}"#)], &[("send", r#"{"text":"hello"}"#)]];
    for (fault, times) in [(Fault::Full, 1), (Fault::Full, 12), (Fault::LostReply, 3)] {
        let (world, clerk, worker) = (World::new(), clerk(), worker(work));
        let store = Away { inner: world.store(), fault, left: AtomicU32::new(times) };
        let agents = process(&world, store, &clerk, &worker);
        let progress = agents.start(NewRun::new("r1", "clerk", "greet them")).await.unwrap();
        assert!(progress.ended().is_some(), "{fault:?}: {progress}");
        let answer = &answers(&agents.history("r1").await.unwrap(), 0)[0];
        assert_eq!(answer["answer"], "Worked.", "{fault:?}: {answer}");
        assert_eq!((clerk.asked(), worker.asked()), (2, 3), "{fault:?}");
        assert_eq!(lines(&world, "send").len(), 1, "{fault:?}");
        assert_eq!(agents.head("r1").await.unwrap().spent.unmeasured, 5, "{fault:?}");
    }
}
