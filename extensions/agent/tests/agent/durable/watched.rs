//! Readers of recorded runs: each call as it begins and ends, and what a reader hears that comes back to another process.

use std::time::Duration;

use futures::FutureExt as _;
use toolwright::retry::{Jitter, RetryPolicy};
use toolwright::{ErrorClass, Registry, ToolError, tool};
use toolwright_agent::durable::{NewRun, RunError, Runner};
use toolwright_agent::{Agent, ModelAnswer, RunEvent, RunEvents};

use super::process::{Deadly, FIND, PAY, Provider, World, calls, until_dead};

/// Reaches for something that is away once.
#[tool(effect = idempotent)]
async fn reach(log: &crate::support::Log) -> Result<&'static str, ToolError> {
    log.add("reach".to_owned());
    match log.lines().iter().filter(|it| *it == "reach").count() {
        1 => Err(ToolError::new("away", "it is away").class(ErrorClass::Transient)),
        _ => Ok("there"),
    }
}

async fn words(mut events: RunEvents) -> Vec<String> {
    let mut words = Vec::new();
    while let Some(event) = events.next().await {
        words.push(format!("{:?}", event.kind));
    }
    words
}

#[tokio::test(start_paused = true)]
async fn a_reader_hears_of_each_call_when_it_begins_is_tried_again_ends_or_waits() {
    let world = World::new();
    for (models, expected) in [
        (
            vec![calls([("find", r#"{"word":"tea"}"#)]), calls([("pay", r#"{"amount":3}"#)])],
            vec![
                r#"Executing("find")"#,
                r#"Done("find", None, None)"#,
                r#"Done("pay", None, Some(Pending))"#,
            ],
        ),
        (
            vec![calls([("reach", "{}")])],
            vec![
                r#"Executing("reach")"#,
                r#"Retrying("reach", 1)"#,
                r#"Done("reach", None, Some(Ready))"#,
            ],
        ),
    ] {
        let tools = Registry::of([FIND, PAY, REACH]).unwrap();
        let executor = world.executor_of(world.store(), tools).unrestricted();
        // A short pause, which jitter may give, is waited for without leaving the call.
        let retry = RetryPolicy::NETWORK.jitter(Jitter::None);
        let executor = executor.retry(retry).build().unwrap();
        let agent = Agent::on(executor, Provider::new(models)).build().unwrap();
        let run = format!("run-{}", expected[0].len());
        let events = agent.events(&run);
        let agents = Runner::builder().agent("clerk", agent).build().unwrap();
        agents.start(NewRun::new(run, "clerk", "go")).await.unwrap();
        let words = words(events).await;
        let is_of_calls =
            |it: &&str| ["Executing", "Done", "Retrying"].iter().any(|kind| it.starts_with(kind));
        let of_calls: Vec<&str> = words.iter().map(String::as_str).filter(is_of_calls).collect();
        assert_eq!(of_calls, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_comes_back_to_another_process_hears_that_it_missed_events() {
    let world = World::new();
    let model = Provider::new([calls([("find", r#"{"word":"tea"}"#)]), ModelAnswer::text("Done.")]);
    let (store, dead) = Deadly::at(&world, 4);
    let first = world.agent(store, &model).build().unwrap();
    let mut events = first.events("r1");
    let agents = Runner::builder().agent("clerk", first).build().unwrap();
    assert!(until_dead(agents.start(NewRun::new("r1", "clerk", "go")), &dead).await.is_none());
    let last = events.next().await.unwrap().number;
    drop((agents, events));
    world.pass(Duration::from_mins(2));

    let second = world.agent(world.store(), &model).build().unwrap();
    let mut back = second.events("r1").after(last);
    let mut other = second.events("r1");
    let agents = Runner::builder().agent("clerk", second).build().unwrap();
    agents.resume("r1").await.unwrap();
    let missed = back.next().await.unwrap();
    assert!(
        matches!(missed.kind, RunEvent::Missed { first, .. } if first == last + 1),
        "{missed:?}"
    );
    let (next, fresh) = (back.next().await.unwrap(), other.next().await.unwrap());
    assert!(next.number > missed.number);
    assert_eq!(next, fresh, "who was there from the start has missed nothing");
}

#[tokio::test(start_paused = true)]
async fn a_reader_hears_why_a_run_stopped_and_that_what_came_before_is_void() {
    let world = World::new();
    let model = Provider::new([ModelAnswer::text("Done.")]);
    let store = super::at_once::Counting::of(&world);
    let agent = world.agent(store.clone(), &model).build().unwrap();
    let mut events = agent.events("r1");
    let agents = Runner::builder().agent("clerk", agent).build().unwrap();
    agents.submit(NewRun::new("r1", "clerk", "go")).await.unwrap();
    store.replace(true);
    let full = agents.resume("r1").await.unwrap_err();
    assert!(matches!(full, RunError::Store(_)), "{full}");
    store.replace(false);
    agents.resume("r1").await.unwrap();
    let mut words = Vec::new();
    // What has come; the end of each driver is a `None`.
    while let Some(event) = events.next().now_or_never() {
        words.extend(event.map(|event| match event.kind {
            RunEvent::Stopped { why } => format!("stopped: {why}"),
            kind => format!("{kind:?}"),
        }));
    }
    let (stopped, again) = (
        words
            .iter()
            .position(|it| it.starts_with("stopped: ") && it.contains("the journal was replaced")),
        words.iter().position(|it| it == "Restarted"),
    );
    assert!(stopped.is_some() && again > stopped, "{words:?}");
    assert_eq!(words.iter().filter(|it| it.starts_with("Text")).count(), 2, "{words:?}");
}
