//! A run of an agent by its id, as the front has it.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use toolwright::journal::{CallRecord, Filter, Journal, MemoryStore, Page, State, Store};
use toolwright::{CancellationToken, ToolContext, tool};
use toolwright_agent::durable::{Runner, Runs};
use toolwright_agent::{
    Agent, AgentBuilder, Limit, Message, ModelAnswer, RunEnd, RunError, RunEvent, ScriptedModel,
};

use super::at_once::Counting;
use super::process::{Deadly, PAY, Provider, SEND, World, calls};
use crate::support::{Log, WAIT};

fn provider() -> Arc<Provider> {
    Provider::new([calls([("send", r#"{"text":"hello"}"#)]), ModelAnswer::text("Sent.")])
}

/// An agent as its user builds it.
fn agent(store: impl Into<Journal>, log: &Log, model: &Arc<Provider>) -> AgentBuilder {
    let builder = Agent::builder(Arc::clone(model)).tools([SEND, PAY]).service(log.clone());
    builder.unrestricted().journal(store)
}

#[tokio::test]
async fn a_run_that_has_ended_gives_its_result_again_and_asks_nothing() {
    let (store, log, model) = (MemoryStore::new(), Log::default(), provider());
    let first = agent(store.clone(), &log, &model).build().unwrap();
    let one = first.run("Greet her.").id("r1").user("ada").await.unwrap();
    // Another process, which sends nothing and asks nothing.
    let second = agent(store, &log, &model).build().unwrap();
    let two = second.run("Greet her.").id("r1").await.unwrap();
    assert_eq!((one.to_string(), two.to_string()), ("Sent.".to_owned(), "Sent.".to_owned()));
    assert_eq!((one.turns(), one.history().len()), (two.turns(), two.history().len()));
    assert_eq!((model.asked(), log.lines().len()), (2, 1));
}

#[tokio::test]
async fn another_prompt_under_a_used_id_is_an_error_that_names_both() {
    let (store, log, model) = (MemoryStore::new(), Log::default(), provider());
    let agent = agent(store, &log, &model).build().unwrap();
    agent.run("Greet her.").id("r1").await.unwrap();
    let error = agent.run("Greet him.").id("r1").await.unwrap_err().to_string();
    assert!(error.contains("\"Greet her.\"") && error.contains("\"Greet him.\""), "{error}");
    assert!(error.contains("`r1`") && error.contains("an id of its own"), "{error}");
    assert_eq!(model.asked(), 2);
}

#[tokio::test]
async fn another_user_than_the_recorded_one_is_refused() {
    let (store, log, model) = (MemoryStore::new(), Log::default(), provider());
    let agent = agent(store, &log, &model).build().unwrap();
    agent.run("Greet her.").id("r1").user("ada").await.unwrap();
    let error = agent.run("Greet her.").id("r1").user("bob").await.unwrap_err().to_string();
    assert!(error.contains("found `bob`, expected `ada`"), "{error}");
}

#[tokio::test]
async fn without_a_journal_an_id_is_that_of_the_calls() {
    let model = ScriptedModel::new().says("One.").says("Two.");
    let agent = Agent::builder(model).build().unwrap();
    assert_eq!(agent.run("Go.").id("r1").await.unwrap().to_string(), "One.");
    assert_eq!(agent.run("Go.").id("r1").await.unwrap().to_string(), "Two.");
}

#[tokio::test]
async fn a_run_without_an_id_is_recorded_by_the_id_of_its_result() {
    let (store, log, model) = (MemoryStore::new(), Log::default(), provider());
    let agent = agent(store.clone(), &log, &model).build().unwrap();
    let result = agent.run("Greet her.").await.unwrap();
    let runs = Runs::of(Arc::new(store));
    assert_eq!(runs.head(result.id()).await.unwrap().ended.as_deref(), Some("text"));
}

/// It dies at every commit by being dropped, in the process that goes on, without a wait for the end of a lease.
#[tokio::test]
async fn a_run_that_is_dropped_anywhere_goes_on_at_once_in_its_process() {
    for at in 0.. {
        let (world, log, model) = (World::new(), Log::default(), provider());
        let (store, dead) = Deadly::at(&world, at);
        let agent = agent(store, &log, &model).build().unwrap();
        tokio::select! {
            biased;
            ended = agent.run("Greet her.").id("r1") => {
                ended.unwrap();
                assert!(at > 10, "there are more commits than {at}");
                break;
            }
            () = dead.notified() => {}
        }
        let ended = tokio::time::timeout(Duration::from_secs(5), agent.run("Greet her.").id("r1"));
        match ended.await {
            Ok(ended) => assert_eq!(ended.unwrap().to_string(), "Sent."),
            // The call itself was dropped: its lease is that of a call, and has to end.
            Err(_) => {
                let calls = world.store().list(&Filter::default(), Page::first(9)).await.unwrap();
                let is_running = |it: &CallRecord| it.state == State::Running;
                assert!(calls.calls.iter().any(is_running), "commit {at}: {:?}", calls.calls);
            }
        }
        assert!(model.asked() <= 3, "commit {at}: {} requests", model.asked());
    }
}

/// Breathes for a while.
#[tool(effect = keyed, writes())]
async fn breathe(log: &Log, context: &ToolContext) -> &'static str {
    let _ = context;
    log.add("breathe");
    tokio::time::sleep(Duration::from_millis(200)).await;
    "better"
}

#[tokio::test]
async fn of_two_at_once_the_second_follows_the_first_and_says_so() {
    let (store, log) = (MemoryStore::new(), Log::default());
    let model = Provider::new([calls([("breathe", "{}")]), ModelAnswer::text("Better.")]);
    let agent = || {
        let builder = Agent::builder(Arc::clone(&model)).tools([BREATHE]).service(log.clone());
        builder.unrestricted().journal(store.clone()).build().unwrap()
    };
    let (first, second) = (agent(), agent());
    let mut events = first.run("Breathe.").id("r1").stream();
    while let Some(event) = events.next().await {
        if matches!(event.unwrap(), RunEvent::Executing { .. }) {
            break;
        }
    }
    let follow = async {
        let mut followed = second.run("Breathe.").id("r1").stream();
        let mut said = Vec::new();
        while let Some(event) = followed.next().await {
            said.push(format!("{:?}", event.unwrap()));
        }
        (said, followed.result().unwrap().to_string())
    };
    let lead = async { while events.next().await.is_some() {} };
    let ((said, result), ()) = tokio::join!(follow, lead);
    assert_eq!(result, "Better.");
    assert!(said.len() == 1 && said[0].starts_with("Elsewhere("), "{said:?}");
    assert_eq!((model.asked(), log.lines().len()), (2, 1));
}

#[tokio::test]
async fn a_call_that_a_person_has_to_decide_waits_in_the_journal_and_the_result_says_so() {
    let world = World::new();
    let model = Provider::new([calls([("pay", r#"{"amount":3}"#)]), ModelAnswer::text("Paid.")]);
    let journal = Journal::new(world.store()).trust("ada", world.key().public());
    let agent = agent(journal, &world.log, &model).build().unwrap();
    let error = agent.run("Pay.").id("r1").await.unwrap_err();
    let words = error.to_string();
    assert!(words.contains("run `r1` waits: turn 1 waits for `pay`"), "{words}");
    assert!(words.contains("decide by `toolwright approvals`, then ask"), "{words}");
    assert!(!words.contains("indeterminate"), "{words}");
    let waiting = error.waiting().unwrap();
    assert_eq!(waiting.requests.len(), 1);
    // It waits, however often it is asked for.
    let again = agent.run("Pay.").id("r1").await.unwrap_err();
    assert_eq!(again.waiting().unwrap().calls, waiting.calls);
    world.approve(waiting.calls[0].call).await;
    assert_eq!(agent.run("Pay.").id("r1").await.unwrap().to_string(), "Paid.");
    assert_eq!((model.asked(), world.log.lines()), (2, vec!["pay 3".to_owned()]));
}

#[tokio::test]
async fn who_goes_on_with_another_agent_hears_in_what_it_differs() {
    let world = World::new();
    let model = Provider::new([calls([("pay", r#"{"amount":3}"#)]), ModelAnswer::text("Paid.")]);
    let journal = || Journal::new(world.store()).trust("ada", world.key().public());
    let first = agent(journal(), &world.log, &model).instructions("Be kind.").build().unwrap();
    let waits = first.run("Pay.").id("r1").await.unwrap_err();
    world.approve(waits.waiting().unwrap().calls[0].call).await;

    let other = ScriptedModel::new().says("Paid, says the other.");
    let builder = Agent::builder(other).tools([PAY]).tools([WAIT]).service(world.log.clone());
    let second =
        builder.instructions("Be brief.").unrestricted().journal(journal()).build().unwrap();
    let mut events = second.run("Pay.").id("r1").stream();
    let mut said = Vec::new();
    while let Some(event) = events.next().await {
        if let RunEvent::Differs { differences } = event.unwrap() {
            said.extend(differences);
        }
    }
    let result = events.result().unwrap();
    assert_eq!(result.to_string(), "Paid, says the other.");
    assert_eq!(result.differences(), said);
    assert_eq!(
        said,
        [
            "the model was `provider` and is `scripted`",
            "the instructions are others",
            "tools that are gone: `send`",
            "tools that are new: `wait`",
        ]
    );
    // The history is the recorded one.
    assert_eq!(result.history().len(), 4);
    assert_eq!(world.log.lines(), ["pay 3"]);
}

#[tokio::test]
async fn a_conversation_goes_on_by_its_id_in_another_process() {
    let (store, log) = (MemoryStore::new(), Log::default());
    let model = Provider::new(["One.", "Two.", "Three."].map(ModelAnswer::text));
    let first = agent(store.clone(), &log, &model).build().unwrap();
    let mut chat = first.chat().id("c1").user("ada");
    assert_eq!(chat.send("First.").await.unwrap().to_string(), "One.");
    assert_eq!(chat.send("Second.").await.unwrap().history().len(), 2);

    let second = agent(store, &log, &model).build().unwrap();
    let mut chat = second.chat().id("c1");
    let mut events = chat.send("Third.").stream();
    while let Some(event) = events.next().await {
        event.unwrap();
    }
    let result = events.result().unwrap().clone();
    drop(events);
    assert_eq!((result.to_string().as_str(), result.history().len()), ("Three.", 2));
    assert_eq!((result.turns(), chat.history().len()), (1, 6));
}

#[tokio::test]
async fn a_turn_of_a_conversation_that_waits_is_resumed_and_nothing_is_said_meanwhile() {
    let world = World::new();
    let model = Provider::new([calls([("pay", r#"{"amount":3}"#)]), ModelAnswer::text("Paid.")]);
    let journal = Journal::new(world.store()).trust("ada", world.key().public());
    let agent = agent(journal, &world.log, &model).build().unwrap();
    let mut chat = agent.chat().id("c1");
    let waits = chat.send("Pay.").await.unwrap_err();
    assert_eq!(chat.history().len(), 2);
    let early = chat.send("And now?").await.unwrap_err().to_string();
    assert!(early.contains("run `c1` has not ended; resume it"), "{early}");
    world.approve(waits.waiting().unwrap().calls[0].call).await;
    assert_eq!(chat.resume().await.unwrap().to_string(), "Paid.");
}

#[tokio::test]
async fn a_run_whose_journal_goes_away_in_the_middle_goes_on_when_it_is_back_and_asks_nothing_again()
 {
    let world = World::new();
    let (log, model) = (Log::default(), provider());
    let store = Counting::of(&world);
    store.fill(true);
    let agent = agent(store.clone(), &log, &model).build().unwrap();
    let running = tokio::spawn(async move { agent.run("Greet her.").id("r1").await });
    while model.asked() == 0 {
        tokio::task::yield_now().await;
    }
    assert!(log.lines().is_empty(), "no call of an answer that is not recorded");
    store.fill(false);
    assert_eq!(running.await.unwrap().unwrap().to_string(), "Sent.");
    assert_eq!((model.asked(), log.lines().len()), (2, 1));
}

#[tokio::test]
async fn a_token_cancels_a_recorded_run_also_one_that_is_driven_elsewhere() {
    let (store, log) = (MemoryStore::new(), Log::default());
    let model = Provider::new([calls([("wait", "{}")])]);
    let agent = || {
        let builder = Agent::builder(Arc::clone(&model)).tools([WAIT]).service(log.clone());
        builder.unrestricted().journal(store.clone()).build().unwrap()
    };
    let (first, second) = (agent(), agent());
    let mut events = first.run("Wait.").id("r1").stream();
    while let Some(event) = events.next().await {
        if matches!(event.unwrap(), RunEvent::Executing { .. }) {
            break;
        }
    }
    let token = CancellationToken::new();
    let follow = async {
        let mut followed = second.run("Wait.").id("r1").cancelled_by(token.clone()).stream();
        let mut last = None;
        while let Some(event) = followed.next().await {
            token.cancel();
            last = Some(event);
        }
        last
    };
    let lead = async {
        let mut last = None;
        while let Some(event) = events.next().await {
            last = Some(event);
        }
        last
    };
    let (followed, led) = tokio::join!(follow, lead);
    for last in [followed, led] {
        let Some(Err(RunError::NoAnswer(result))) = last else { panic!("{last:?}") };
        assert_eq!(result.end(), &RunEnd::Cancelled);
    }
    let head = Runs::of(Arc::new(store)).head("r1").await.unwrap();
    assert_eq!(head.cancelled.unwrap().who, "application");
}

#[tokio::test]
async fn a_token_cancels_a_recorded_run_that_is_driven_here_and_its_record_says_so() {
    let (store, log) = (MemoryStore::new(), Log::default());
    let model = Provider::new([calls([("wait", "{}")])]);
    let builder = Agent::builder(Arc::clone(&model)).tools([WAIT]).service(log.clone());
    let agent = builder.unrestricted().journal(store.clone()).build().unwrap();
    let token = CancellationToken::new();
    let mut events = agent.run("Wait.").id("r1").cancelled_by(token.clone()).stream();
    let mut last = None;
    while let Some(event) = events.next().await {
        if matches!(event, Ok(RunEvent::Executing { .. })) {
            token.cancel();
        }
        last = Some(event);
    }
    let Some(Err(RunError::NoAnswer(result))) = last else { panic!("{last:?}") };
    assert_eq!(result.end(), &RunEnd::Cancelled);
    let head = Runs::of(Arc::new(store)).head("r1").await.unwrap();
    assert_eq!((head.cancelled.unwrap().who.as_str(), model.asked()), ("application", 1));
}

#[tokio::test]
async fn the_time_of_a_recorded_run_ends_it_and_what_runs() {
    let (store, log) = (MemoryStore::new(), Log::default());
    let model = Provider::new([calls([("wait", "{}")])]);
    let builder = Agent::builder(Arc::clone(&model)).tools([WAIT]).service(log.clone());
    let builder = builder.unrestricted().journal(store).max_duration(Duration::from_millis(50));
    let error = builder.build().unwrap().run("Wait.").id("r1").await.unwrap_err();
    let end = error.result().unwrap().end();
    assert_eq!(end, &RunEnd::Limit(Limit::Time { milliseconds: 50 }));
}

#[tokio::test]
async fn a_runner_works_on_a_run_that_the_front_began() {
    let world = World::new();
    let model = Provider::new([calls([("pay", r#"{"amount":3}"#)]), ModelAnswer::text("Paid.")]);
    let journal = Journal::new(world.store()).trust("ada", world.key().public());
    let agent = agent(journal, &world.log, &model).name("clerk").build().unwrap();
    let waits = agent.run("Pay.").id("r1").await.unwrap_err();
    world.approve(waits.waiting().unwrap().calls[0].call).await;
    let runner = Runner::builder().agent("clerk", agent.clone()).build().unwrap();
    assert!(runner.resume("r1").await.unwrap().ended().is_some());
    let result = agent.run("Pay.").id("r1").await.unwrap();
    assert!(
        matches!(result.history().last(), Some(Message::Assistant { text, .. }) if text == "Paid.")
    );
}
