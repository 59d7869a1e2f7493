//! Calls whose outcome is unknown, and calls of a plan.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use toolwright::approval::Statement;
use toolwright::journal::{CallRecord, Filter, Page, State, Store as _};
use toolwright::policy::{Mode, Policy};
use toolwright::{Registry, tool};
use toolwright_agent::durable::{NewRun, Phase, RunFilter, Runner, Runs};
use toolwright_agent::{Agent, Message, ModelAnswer, RunEnd, check};

use super::process::{Deadly, FIND, Provider, World, calls, until_dead};
use super::unreadable::Unreadable;
use crate::support::Log;

/// Charges a card, at most once.
#[tool(effect = once)]
async fn charge(
    log: &Log,
    /// How much.
    amount: u32,
) -> String {
    log.add(format!("charge {amount}"));
    format!("charged {amount}")
}

fn provider() -> Arc<Provider> {
    Provider::new([
        calls([("find", r#"{"word":"tea"}"#), ("charge", r#"{"amount":3}"#)]),
        ModelAnswer::text("Charged."),
    ])
}

fn process(world: &World, store: impl toolwright::journal::Store, model: &Arc<Provider>) -> Runner {
    let tools = Registry::of([FIND, CHARGE]).unwrap();
    let executor = world.executor_of(store, tools).unrestricted().build().unwrap();
    let agent = Agent::on(executor, Arc::clone(model)).build().unwrap();
    Runner::builder().agent("clerk", agent).build().unwrap()
}

async fn listed(world: &World, state: State) -> Vec<CallRecord> {
    let filter = Filter { states: vec![state], ..Filter::default() };
    world.store().list(&filter, Page::first(10)).await.unwrap().calls
}

async fn say(world: &World, statement: &Statement) {
    let signed = world.key().sign(statement).unwrap();
    world.approvals().submit(signed, world.now()).await.unwrap();
}

fn lines(world: &World, word: &str) -> usize {
    world.log.lines().iter().filter(|line| line.starts_with(word)).count()
}

/// Files a letter, which takes twenty seconds by every clock.
#[tool(effect = idempotent)]
async fn file(world: &World) {
    world.pass(Duration::from_secs(20));
}

/// Mails a letter, and never ends.
#[tool(effect = idempotent)]
async fn mail(log: &Log, begun: &Begun) {
    log.add("mail".to_owned());
    begun.0.notify_one();
    std::future::pending().await
}

/// Is notified when a letter is mailed.
#[derive(Clone, Default)]
struct Begun(Arc<Notify>);

/// A world in which run `r1` was cancelled while one of its calls may still run in a process that was killed, and
/// another process with its view of the journal.
async fn cancelled_while_it_mails() -> (World, Runner, Unreadable) {
    let (world, begun) = (World::new(), Begun::default());
    let model = Provider::new([calls([("file", "{}"), ("mail", "{}")])]);
    let store = Unreadable::of(world.store());
    let process = || {
        let tools = Registry::of([FILE, MAIL]).unwrap();
        let executor = world.executor_of(store.clone(), tools).unrestricted();
        let executor = executor.service(world.clone()).service(begun.clone()).build().unwrap();
        let agent = Agent::on(executor, Arc::clone(&model)).build().unwrap();
        Runner::builder().agent("clerk", agent).build().unwrap()
    };
    let first = process();
    let mut dies = Box::pin(first.start(NewRun::new("r1", "clerk", "mail it")));
    tokio::select! {
        ended = &mut dies => panic!("mailing never ends: {ended:?}"),
        () = begun.0.notified() => {}
    }
    // A killed process runs no code of its own.
    std::mem::forget(dies);
    // The lease of the run has ended, that of the call has not.
    world.pass(Duration::from_secs(15));
    let runs = Runs::of(Arc::new(world.store()));
    runs.cancel("r1", "ada", "not wanted any more", world.now()).await.unwrap();
    let second = process();
    let ended = second.resume("r1").await.unwrap();
    assert_eq!(ended.ended(), Some(&RunEnd::Cancelled));
    assert_eq!(listed(&world, State::Running).await.len(), 1, "it may still run elsewhere");
    (world, second, store)
}

async fn works_for_a_while(process: &Runner) {
    let work = tokio::time::timeout(Duration::from_secs(20), process.work());
    assert!(work.await.is_err(), "nothing drains it");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_a_cancelled_run_gave_up_is_not_begun_again_when_its_lease_ends() {
    let (world, second, _) = cancelled_while_it_mails().await;
    world.pass(Duration::from_mins(1));
    works_for_a_while(&second).await;
    assert_eq!(lines(&world, "mail"), 1, "it began again");
    let [record] = &listed(&world, State::Cancelled).await[..] else { panic!("it is cancelled") };
    assert!(record.tool == "mail" && record.delivered);
    let runs = Runs::of(Arc::new(world.store()));
    assert!(runs.list_open().await.unwrap().is_empty());
    second.remove("r1").await.unwrap();
    let left = world.store().documents("run/r1/").await.unwrap();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_is_not_removed_while_a_call_of_it_may_begin_again() {
    let (world, second, _) = cancelled_while_it_mails().await;
    let early = second.remove("r1").await.unwrap_err().to_string();
    assert!(early.contains("of `mail` is running; remove the run when"), "{early}");
    world.pass(Duration::from_mins(1));
    works_for_a_while(&second).await;
    assert_eq!(lines(&world, "mail"), 1, "it began again");
    second.remove("r1").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_run_that_has_ended_is_not_loaded_in_each_pass_while_a_call_of_it_may_still_run() {
    let (_, second, store) = cancelled_while_it_mails().await;
    let before = store.readings("run/r1/turn/");
    works_for_a_while(&second).await;
    let loads = store.readings("run/r1/turn/") - before;
    assert!(loads <= 2, "{loads} loads");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_has_ended_is_found_as_such_while_a_call_of_it_may_still_run() {
    let (world, _, _) = cancelled_while_it_mails().await;
    let runs = Runs::of(Arc::new(world.store()));
    let found = runs.find(&RunFilter::new().phase(Phase::Ended)).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(runs.find(&RunFilter::new()).await.unwrap().len(), 1);
}

/// S3.34, S3.38.
#[tokio::test(start_paused = true)]
async fn a_run_whose_call_has_an_unknown_outcome_waits_until_a_person_says_what_became_of_it() {
    let mut unclear = 0;
    for at in 0.. {
        let (world, model) = (World::new(), provider());
        let (store, dead) = Deadly::at(&world, at);
        let first = process(&world, store, &model);
        if until_dead(first.start(NewRun::new("r1", "clerk", "charge it")), &dead).await.is_some() {
            break;
        }
        drop(first);
        world.pass(Duration::from_mins(2));
        let agents = process(&world, world.store(), &model);
        let Ok(progress) = agents.resume("r1").await else {
            assert_eq!(at, 0, "the run was not recorded");
            continue;
        };
        if progress.ended().is_some() {
            assert_eq!(lines(&world, "charge"), 1, "commit {at}");
            continue;
        }
        unclear += 1;
        let waiting = progress.waiting().unwrap();
        assert_eq!(waiting.calls[0].state, State::Indeterminate, "commit {at}");
        let head = agents.head("r1").await.unwrap();
        assert_eq!((head.phase, head.lease, head.waiting.len()), (Phase::Waiting, None, 1));
        // Days pass, and nothing runs.
        world.pass(Duration::from_hours(72));
        let (found, asked) = (lines(&world, "find"), model.asked());
        assert!(agents.resume("r1").await.unwrap().waiting().is_some());

        let waits = tokio::spawn({
            let agents = agents.clone();
            async move { agents.wait("r1").await }
        });
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert!(!waits.is_finished(), "a person has not said what became of it");
        let [record] = &listed(&world, State::Indeterminate).await[..] else { panic!("one") };
        let statement = Statement::happened(record, "charged 3", "ada", world.now());
        say(&world, &statement).await;
        let ended = waits.await.unwrap().unwrap();
        assert!(matches!(ended, RunEnd::Text { .. }), "{ended}");
        let history = agents.history("r1").await.unwrap();
        assert!(check(&history).unwrap().is_empty());
        let Message::ToolResults(answers) = &history[2] else { panic!("the answers") };
        assert_eq!(answers[1].1.text(), "charged 3", "commit {at}");
        assert!(lines(&world, "charge") <= 1, "commit {at}");
        assert_eq!((lines(&world, "find"), model.asked()), (found, asked + 1), "commit {at}");
    }
    assert!(unclear > 0, "at some commit the outcome was unknown");
}

/// S3.36.
#[tokio::test(start_paused = true)]
async fn a_run_in_plan_mode_gets_its_answers_at_once_and_an_accepted_call_changes_none_of_them() {
    let (world, model) = (World::new(), provider());
    let tools = Registry::of([FIND, CHARGE]).unwrap();
    let executor = world.executor_of(world.store(), tools);
    let plan = Policy::builder().mode(Mode::Unrestricted).plan(true);
    let executor = executor.policy(plan).build().unwrap();
    let agent = Agent::on(executor, Arc::clone(&model)).build().unwrap();
    let agents = Runner::builder().agent("clerk", agent).build().unwrap();
    let progress = agents.start(NewRun::new("r1", "clerk", "charge it")).await.unwrap();
    assert!(progress.ended().is_some(), "{progress}");
    assert_eq!((lines(&world, "find"), lines(&world, "charge")), (1, 0));
    let before = serde_json::to_string(&agents.history("r1").await.unwrap()).unwrap();
    assert!(before.contains("was put into the plan"), "{before}");

    let [record] = &listed(&world, State::Planned).await[..] else { panic!("one") };
    // Accepted, it runs or waits for its own approval; the run has ended with the answers that it had.
    say(&world, &Statement::accept(record, "ada", world.now())).await;
    let work = agents.work();
    assert!(
        tokio::time::timeout(Duration::from_secs(20), work).await.is_err(),
        "nothing drains it"
    );
    assert!(listed(&world, State::Planned).await.is_empty(), "the call went on");
    let after = serde_json::to_string(&agents.history("r1").await.unwrap()).unwrap();
    assert_eq!((after, model.asked()), (before, 2));
}
