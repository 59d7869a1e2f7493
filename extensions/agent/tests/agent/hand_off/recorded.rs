//! Recorded runs that are handed off: killed at any commit, forked, and taken up by a process with another agent.

use std::sync::Arc;
use std::time::Duration;

use toolwright::journal::{Filter, Page, State as CallState, Store};
use toolwright::policy::{Mode, Policy, Rule};
use toolwright::{Outcome, Registry};
use toolwright_agent::durable::{NewRun, Phase, RunError, Runner};
use toolwright_agent::{Agent, HandOff, ModelAnswer, RunEnd, State};

use super::to;
use crate::durable::process::{Deadly, FIND, PAY, Provider, SEND, World, calls, until_dead};
use crate::rewind::Files;
use crate::support::kinds;

/// A process: the clerk, who hands runs off to the payer and gets them back.
fn process(
    world: &World,
    store: impl Store,
    clerk: &Arc<Provider>,
    payer: Option<&Arc<Provider>>,
) -> Runner {
    let agent = Agent::builder(Arc::clone(clerk))
        .name("clerk")
        .tools([FIND, SEND, PAY])
        .service(world.log.clone())
        .unrestricted()
        .journal(world.journal(Arc::new(store)));
    let payer = payer.map(|model| {
        let payer = HandOff::to("payer", "Pays.").profile(["send", "pay"]);
        payer.model(Arc::clone(model)).may_hand_off_to(["clerk"])
    });
    let agent = payer.into_iter().fold(agent, |it, to| it.hand_off(to));
    Runner::builder().agent("clerk", agent.build().unwrap()).build().unwrap()
}

/// An answer that is not given, because another agent has the run then.
fn never() -> ModelAnswer {
    ModelAnswer::text("Never said.")
}

/// Finds, hands off; sends, hands back; ends.
fn models() -> (Arc<Provider>, Arc<Provider>) {
    let find = calls([("find", r#"{"word":"tea"}"#)]);
    let over = calls([("hand_off", to("payer").as_str())]);
    let send = calls([("send", r#"{"text":"hello"}"#), ("find", r#"{"word":"milk"}"#)]);
    let back = calls([("hand_off", to("clerk").as_str())]);
    let clerk = Provider::new([find, over, never(), never(), ModelAnswer::text("Done.")]);
    (clerk, Provider::new([never(), never(), send, back, never()]))
}

#[tokio::test(start_paused = true)]
async fn a_run_that_dies_at_any_commit_goes_on_as_the_agent_that_had_it() {
    for at in 0.. {
        let (world, (clerk, payer)) = (World::new(), models());
        let (store, dead) = Deadly::at(&world, at);
        let first = process(&world, store, &clerk, Some(&payer));
        let run = || NewRun::new("r1", "clerk", "greet them");
        if let Some(ended) = until_dead(first.start(run()), &dead).await {
            assert!(ended.unwrap().ended().is_some());
            assert!(at > 20, "there are more commits than {at}");
            break;
        }
        drop(first);
        let second = process(&world, world.store(), &clerk, Some(&payer));
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
        let expected = [["ok"].as_slice(), &["ok"], &["ok", "unknown_tool"], &["ok"]];
        assert_eq!(kinds(&history), expected, "commit {at}");
        let sent: Vec<String> = world.log.lines();
        let mut sent: Vec<&String> = sent.iter().filter(|it| it.starts_with("send")).collect();
        sent.dedup();
        assert_eq!(sent.len(), 1, "commit {at}: one message has one key");
        let asked = clerk.asked() + payer.asked();
        assert!((5..=6).contains(&asked), "commit {at}: {asked} requests");
        assert_eq!(second.head("r1").await.unwrap().agent, "clerk");
    }
}

#[tokio::test]
async fn a_fork_goes_on_as_the_agent_that_had_the_run_at_its_turn() {
    let (world, (clerk, payer)) = (World::new(), models());
    let agents = process(&world, world.store(), &clerk, Some(&payer));
    agents.start(NewRun::new("r1", "clerk", "greet them")).await.unwrap();
    assert_eq!((clerk.asked(), payer.asked()), (3, 2));
    // After turn 1 the clerk had it, after turns 2 and 3 the payer, after turn 4 the clerk again.
    for (turn, by_clerk, by_payer) in [(1, 2, 2), (2, 1, 2), (3, 1, 1), (4, 1, 0)] {
        let before = (clerk.asked(), payer.asked());
        let fork = format!("f{turn}");
        agents.fork("r1", turn, &fork).await.unwrap();
        let ended = agents.resume(&fork).await.unwrap();
        assert_eq!(ended.to_string(), "ended with a text", "turn {turn}");
        let asked = (clerk.asked() - before.0, payer.asked() - before.1);
        assert_eq!(asked, (by_clerk, by_payer), "turn {turn}");
    }
}

#[tokio::test]
async fn a_run_that_is_rewound_goes_on_as_the_agent_that_had_it_at_that_turn() {
    for (turn, by_clerk, by_payer) in [(1, 2, 2), (2, 1, 2), (3, 1, 1), (4, 1, 0)] {
        let (world, (clerk, payer)) = (World::new(), models());
        let agents = process(&world, world.store(), &clerk, Some(&payer));
        agents.start(NewRun::new("r1", "clerk", "greet them")).await.unwrap();
        agents.rewind("r1", turn, Some("r2"), &Files::default()).await.unwrap();
        // Another process goes on with it.
        let (before, other) = ((clerk.asked(), payer.asked()), world.store());
        let ended = process(&world, other, &clerk, Some(&payer)).resume("r2").await.unwrap();
        assert_eq!(ended.to_string(), "ended with a text", "turn {turn}");
        let asked = (clerk.asked() - before.0, payer.asked() - before.1);
        assert_eq!(asked, (by_clerk, by_payer), "turn {turn}");
    }
}

/// The person approves what the rules of the agent asked about; meanwhile the agent has got rules that deny it. A worker
/// of calls does not know these rules, and leaves the call to the driver of the run.
#[tokio::test]
async fn a_call_that_waits_is_judged_by_the_rules_of_the_agent_that_has_the_run_when_it_goes_on() {
    for (rule, expected, ran) in [
        (Rule::ask("who is it for?").named("ask").tool("send"), "ok", 1),
        (Rule::deny("not any more").named("deny").tool("send"), "denied", 0),
    ] {
        let world = World::new();
        let over = calls([("hand_off", to("payer").as_str())]);
        let send = calls([("send", r#"{"text":"hello"}"#)]);
        let clerk = Provider::new([over, never(), never()]);
        let payer = Provider::new([never(), send, ModelAnswer::text("Done.")]);
        let process = |rule: Rule| {
            let payer = HandOff::to("payer", "Pays.").profile(["send"]).model(Arc::clone(&payer));
            let payer = payer.policy(Policy::builder().mode(Mode::Unrestricted).rule(rule));
            let tools = Registry::of([FIND, SEND, PAY]).unwrap();
            let executor = world.executor_of(world.store(), tools).unrestricted().build().unwrap();
            let agent = Agent::on(executor.clone(), Arc::clone(&clerk)).name("clerk");
            let agent = agent.hand_off(payer).build().unwrap();
            (Runner::builder().agent("clerk", agent).build().unwrap(), executor)
        };
        let (first, _) = process(Rule::ask("who is it for?").named("ask").tool("send"));
        let progress = first.start(NewRun::new("r1", "clerk", "greet them")).await.unwrap();
        let call = progress.waiting().expect("it waits for a person").calls[0].call;
        drop(first);
        world.approve(call).await;
        let (second, executor) = process(rule);
        executor.worker().unwrap().sweep().await.unwrap();
        let left = executor.worker().unwrap().resume(call).await;
        assert!(matches!(left, Outcome::Suspended(_)), "{left:?}");
        assert_eq!(world.log.lines(), Vec::<String>::new(), "a worker leaves it");
        second.resume("r1").await.unwrap();
        assert_eq!(kinds(&second.history("r1").await.unwrap()), [["ok"], [expected]]);
        assert_eq!(world.log.lines().len(), ran);
    }
}

#[tokio::test]
async fn a_run_whose_agent_is_gone_does_not_go_on_as_the_first_and_goes_on_once_it_is_back() {
    let (world, (clerk, _)) = (World::new(), models());
    let pays = calls([("pay", r#"{"amount":3}"#)]);
    let payer = Provider::new([never(), never(), pays, ModelAnswer::text("Paid.")]);
    let first = process(&world, world.store(), &clerk, Some(&payer));
    let progress = first.start(NewRun::new("r1", "clerk", "pay them")).await.unwrap();
    let waiting = progress.waiting().expect("it waits for a person").calls[0].clone();
    assert_eq!(&*waiting.tool, "pay");
    let filter = Filter { states: vec![CallState::Pending], ..Filter::default() };
    let pending = world.store().list(&filter, Page::first(10)).await.unwrap().calls;
    assert_eq!(pending[0].requester.agent, "agent:r1/payer");
    drop(first);
    world.approve(waiting.call).await;

    let second = process(&world, world.store(), &clerk, None);
    let error = second.resume("r1").await.unwrap_err().to_string();
    assert!(error.contains("the run was handed off to `payer`"), "{error}");
    assert!(error.contains(".hand_off(HandOff::to(\"payer\", …))"), "{error}");
    assert_eq!(second.head("r1").await.unwrap().phase, Phase::Waiting);

    let third = process(&world, world.store(), &clerk, Some(&payer));
    let ended = third.resume("r1").await.unwrap();
    assert!(matches!(ended.ended(), Some(RunEnd::Text { text, .. }) if text == "Paid."));
    assert_eq!(world.log.lines(), ["find tea", "pay 3"]);
}

#[tokio::test]
async fn the_state_of_a_run_that_was_never_handed_off_is_stored_as_before() {
    let state = State::new(toolwright_agent::Limits::default());
    let text = serde_json::to_string(&state).unwrap();
    assert!(!text.contains("handed_off"), "{text}");
    assert_eq!(serde_json::from_str::<State>(&text).unwrap(), state);
}
