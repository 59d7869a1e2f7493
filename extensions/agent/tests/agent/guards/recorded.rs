//! Guards of recorded runs: what they decided counts in the process that goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use toolwright::journal::MemoryStore;
use toolwright_agent::durable::{NewRun, Phase, RunError as Recorded, Runner, Runs};
use toolwright_agent::{
    AfterDecision, Agent, AnswerChange, BeforeDecision, Guard, GuardAction, GuardStage, Message,
    ModelAnswer, RunEnd, RunError, ScriptedModel, check,
};

use super::stopped;
use crate::durable::process::{Deadly, Provider, World, calls, until_dead};
use crate::support::outline;

fn provider() -> Arc<Provider> {
    Provider::new([
        calls([("send", r#"{"text":"hello"}"#)]),
        calls([("find", r#"{"word":"tea"}"#), ("send", r#"{"text":"bye"}"#)]),
        ModelAnswer::text("Done."),
        ModelAnswer::text("Done. Yours, the clerk."),
    ])
}

/// A process whose guards change what is said, send an answer back, change a call, and want a signature.
fn process(world: &World, store: impl toolwright::journal::Store, model: &Arc<Provider>) -> Runner {
    let greets = Guard::before_run("greets", async |prompt| {
        BeforeDecision::change(format!("Good morning! {}", prompt.text), "it is polite")
    });
    let finds_first = Guard::after_model("finds-first", async |answer| {
        let calls = &answer.answer.calls;
        match calls.first().map(|it| &*it.name) {
            Some("send") => AfterDecision::ask_again("Find first."),
            Some("find") => {
                let mut calls = calls.clone();
                r#"{"text":"good-bye"}"#.clone_into(&mut calls[1].arguments);
                AfterDecision::change(AnswerChange::new().calls(calls), "it is too short")
            }
            _ => AfterDecision::Continue,
        }
    });
    let signed = Guard::after_run("signed", async |run| match run.text().contains("Yours") {
        true => AfterDecision::Continue,
        false => AfterDecision::ask_again("Sign it."),
    });
    let agent = world.agent(store, model).guard(greets).guard(finds_first).guard(signed);
    Runner::builder().agent("clerk", agent.build().unwrap()).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_run_that_dies_at_any_commit_ends_as_one_that_does_not() {
    let (world, model) = (World::new(), provider());
    let agents = process(&world, world.store(), &model);
    agents.start(NewRun::new("r1", "clerk", "greet them")).await.unwrap();
    let history = agents.history("r1").await.unwrap();
    assert_eq!(
        outline(&history),
        [
            "user: Good morning! greet them",
            "model: I call. +1",
            "answers: 1",
            "user: [Your answer was not taken: Find first.]",
            "model: I call. +2",
            "answers: 2",
            "model: Done. +0",
            "user: [Your answer was not taken: Sign it.]",
            "model: Done. Yours, the clerk. +0",
        ]
    );
    let expected = serde_json::to_string(&history).unwrap();
    let reports = recorded_reports(&world).await;
    let one = |guard: &str, action| (guard.to_owned(), action);
    assert_eq!(
        reports,
        [
            one("greets", GuardAction::Changed),
            one("finds-first", GuardAction::SentBack),
            one("finds-first", GuardAction::Changed),
            one("signed", GuardAction::SentBack),
        ]
    );
    for at in 0.. {
        let (world, model) = (World::new(), provider());
        let (store, dead) = Deadly::at(&world, at);
        let first = process(&world, store, &model);
        let run = || NewRun::new("r1", "clerk", "greet them");
        if let Some(ended) = until_dead(first.start(run()), &dead).await {
            assert!(ended.unwrap().ended().is_some());
            assert!(at > 14, "there are more commits than {at}");
            break;
        }
        drop(first);
        let second = process(&world, world.store(), &model);
        world.pass(Duration::from_mins(2));
        let resumed = match second.resume("r1").await {
            Err(Recorded::NoSuchRun { .. }) => second.start(run()).await,
            resumed => resumed,
        };
        let ended = resumed.unwrap();
        assert!(matches!(ended.ended(), Some(RunEnd::Text { .. })), "commit {at}: {ended}");
        let history = second.history("r1").await.unwrap();
        assert_eq!(serde_json::to_string(&history).unwrap(), expected, "commit {at}");
        assert!(check(&history).unwrap().is_empty());
        assert_eq!(recorded_reports(&world).await, reports, "commit {at}");
        let sent: std::collections::BTreeSet<_> =
            world.log.lines().into_iter().filter(|it| it.starts_with("send")).collect();
        assert_eq!(sent.len(), 1, "commit {at}: {sent:?}");
        assert!((4..=5).contains(&model.asked()), "commit {at}: {} requests", model.asked());
    }
}

#[tokio::test(start_paused = true)]
async fn a_fork_of_a_turn_that_was_sent_back_has_the_words_of_the_guard() {
    let (world, model) = (World::new(), provider());
    let agents = process(&world, world.store(), &model);
    agents.start(NewRun::new("r1", "clerk", "greet them")).await.unwrap();
    let runs = Runs::of(Arc::new(world.store()));
    for (turn, words) in [(1, "Find first."), (3, "Sign it.")] {
        let new = format!("from-{turn}");
        let head = runs.fork("r1", turn, &new, jiff::Timestamp::now()).await.unwrap();
        assert_eq!(head.phase, Phase::Asking, "turn {turn}");
        let history = agents.history(&new).await.unwrap();
        let last = format!("user: [Your answer was not taken: {words}]");
        assert_eq!(outline(&history).pop(), Some(last), "turn {turn}");
        assert!(check(&history).unwrap().is_empty());
    }
}

/// What is recorded of guards, in the order of the turns.
async fn recorded_reports(world: &World) -> Vec<(String, GuardAction)> {
    let runs = Runs::of(Arc::new(world.store()));
    let mut reports = Vec::new();
    for turn in 1..=5 {
        let recorded = runs.turn("r1", turn).await.map(|it| it.guards).unwrap_or_default();
        reports.extend(recorded.into_iter().map(|it| (it.guard, it.action)));
    }
    reports
}

#[tokio::test]
async fn a_run_that_a_guard_did_not_let_begin_gives_its_end_again_and_asks_no_guard() {
    let looks = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&looks);
    let never = Guard::before_run("never", move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { BeforeDecision::stop("the shop is closed") }
    });
    let model = Arc::new(ScriptedModel::new());
    let agent = Agent::builder(Arc::clone(&model)).guard(never).unrestricted();
    let agent = agent.journal(MemoryStore::new()).build().unwrap();
    for _ in 0..2 {
        let error = agent.run("Tea?").id("r1").await.unwrap_err();
        assert_eq!(stopped(&error).1, GuardStage::BeforeRun, "{error}");
        let typed = agent.run("How much?").id("r2").typed::<u8>().await.unwrap_err();
        assert_eq!(stopped(&typed).1, GuardStage::BeforeRun, "{typed}");
    }
    assert_eq!(looks.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn what_a_guard_left_of_a_prompt_is_recorded_and_nothing_else_of_it() {
    let store = MemoryStore::new();
    let hide = Guard::before_run("no-cards", async |prompt| {
        BeforeDecision::change(prompt.text.replace("4111", "…"), "the number of a card")
    });
    let model = Arc::new(ScriptedModel::new().says("Paid."));
    let agent = Agent::builder(Arc::clone(&model)).guard(hide).unrestricted();
    let agent = agent.journal(store.clone()).build().unwrap();
    let ask = || agent.run("Pay with 4111.").id("r1");
    assert_eq!(ask().await.unwrap().text(), "Paid.");
    // It is known by its id, though what was said is not what is recorded.
    let again = ask().await.unwrap();
    assert!(matches!(&again.history()[0], Message::User { text, .. } if text == "Pay with …."));
    let documents = toolwright::journal::Store::documents(&store, "run/").await.unwrap();
    assert!(!documents.is_empty() && documents.iter().all(|it| !it.text.contains("4111")));
}

#[tokio::test]
async fn a_run_that_goes_on_without_its_guards_says_so() {
    let store = MemoryStore::new();
    let model = || Arc::new(ScriptedModel::new().says("Hello."));
    let guard = Guard::after_model("no-rivals", async |_| AfterDecision::Continue);
    let agent = |guard: Option<Guard>| {
        let builder = Agent::builder(model()).unrestricted().journal(store.clone());
        guard.into_iter().fold(builder, |it, guard| it.guard(guard)).build().unwrap()
    };
    agent(Some(guard)).chat().id("r1").send("Hello!").await.unwrap();
    let result: Result<_, RunError> = agent(None).chat().id("r1").send("Hello again!").await;
    let differences = result.unwrap().differences().join("\n");
    assert!(
        differences.contains("the guards were `no-rivals after the model` and are none"),
        "{differences}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_id_is_removed_while_a_guard_reads_its_message_is_not_recorded() {
    let world = World::new();
    let model = Provider::new([ModelAnswer::text("Done.")]);
    let first = world.process(&model);
    first.start(NewRun::new("r1", "clerk", "Tea.")).await.unwrap();
    let removes = Guard::before_run("removes", move |_| {
        let first = first.clone();
        async move {
            first.remove("r1").await.unwrap();
            BeforeDecision::Continue
        }
    });
    let agent = world.agent(world.store(), &model).guard(removes).build().unwrap();
    let second = Runner::builder().agent("clerk", agent).build().unwrap();
    let error = second.start(NewRun::new("r1", "clerk", "Coffee.")).await.unwrap_err();
    assert_eq!(error, Recorded::Exists { run: "r1".into() });
    assert!(second.head("r1").await.is_err());
}
