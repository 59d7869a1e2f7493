//! Sub-agents of recorded runs: killed at any commit and started again, nothing of them is asked or done twice.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use toolwright::journal::{CallRecord, Filter, Page, State, Store};
use toolwright_agent::durable::{NewRun, Phase, RunError, Runner};
use toolwright_agent::{Agent, ModelAnswer, RunEnd, SubAgent};

use super::{answers, task};
use crate::durable::process::{Deadly, FIND, PAY, Provider, SEND, World, calls, until_dead};

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
