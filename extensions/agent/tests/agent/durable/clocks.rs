//! Clocks that differ, and time that runs out.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use toolwright::journal::{State, Store as _};
use toolwright_agent::durable::{NewRun, Phase, RunError, Runner};
use toolwright_agent::{Limit, Message, ModelAnswer, RunEnd, check};

use super::process::{Deadly, Provider, World, calls, until_dead};

const HOUR: i64 = 3600;

fn provider() -> Arc<Provider> {
    Provider::new([calls([("send", r#"{"text":"hello"}"#)]), ModelAnswer::text("Sent.")])
}

fn run() -> NewRun {
    NewRun::new("r1", "clerk", "go")
}

#[tokio::test(start_paused = true)]
async fn a_process_whose_clock_is_an_hour_ahead_takes_the_run_and_its_driver_commits_nothing_more()
{
    let (world, model) = (World::new(), provider());
    // The driver lives, and is about to commit the model's answer.
    let (store, reached) = Deadly::at(&world, 2);
    let goes_on = Arc::clone(&store.goes_on);
    let first = world.on(store, &model).build().unwrap();
    let mut driven = pin!(first.start(run()));
    tokio::select! {
        biased;
        _ = &mut driven => panic!("it stands still"),
        () = reached.notified() => {}
    }
    let ahead = world.with_clock_off_by(HOUR).process(&model);
    assert!(ahead.resume("r1").await.unwrap().ended().is_some());
    let head = ahead.head("r1").await.unwrap();
    goes_on.notify_one();
    assert_eq!(driven.await.unwrap_err(), RunError::LeaseLost { run: "r1".into() });
    assert_eq!(ahead.head("r1").await.unwrap(), head);
    assert_eq!(world.log.lines().len(), 1, "the call ran once");
}

#[tokio::test(start_paused = true)]
async fn a_process_whose_clock_is_an_hour_behind_leaves_a_run_alone_until_its_own_clock_passes_the_lease()
 {
    let (world, model) = (World::new(), provider());
    let (store, dead) = Deadly::at(&world, 3);
    let first = world.on(store, &model).build().unwrap();
    assert!(until_dead(first.start(run()), &dead).await.is_none());
    world.pass(Duration::from_mins(2));
    let slow = world.with_clock_off_by(-HOUR);
    let behind = slow.process(&model);
    let early = behind.resume("r1").await.unwrap_err();
    assert!(matches!(early, RunError::Driven { .. }), "{early}");
    slow.pass(Duration::from_hours(1));
    assert!(behind.resume("r1").await.unwrap().ended().is_some());
    assert_eq!((model.asked(), world.log.lines().len()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_back_while_a_run_is_driven_ends_no_run_and_loses_no_lease() {
    let (world, model) = (World::new(), provider());
    let (store, reached) = Deadly::at(&world, 2);
    let goes_on = Arc::clone(&store.goes_on);
    let slow = world.with_clock_off_by(HOUR);
    let agents = slow.on(store, &model).build().unwrap();
    let mut driven = pin!(agents.start(run()));
    tokio::select! {
        biased;
        _ = &mut driven => panic!("it stands still"),
        () = reached.notified() => {}
    }
    slow.set_back(HOUR);
    goes_on.notify_one();
    assert!(driven.await.unwrap().ended().is_some());
    assert_eq!((model.asked(), world.log.lines().len()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn the_lease_of_a_dead_process_whose_clock_was_ahead_ends_when_its_head_stands_still_for_as_long()
 {
    let (world, model) = (World::new(), provider());
    let (store, dead) = Deadly::at(&world, 3);
    let first = world.with_clock_off_by(HOUR).on(store, &model).build().unwrap();
    assert!(until_dead(first.start(run()), &dead).await.is_none());
    let second = world.process(&model);
    for _ in 0..2 {
        let early = second.resume("r1").await.unwrap_err();
        assert!(matches!(early, RunError::Driven { .. }), "{early}");
        world.pass(Duration::from_secs(20));
    }
    assert!(second.resume("r1").await.unwrap().ended().is_some());
    assert_eq!((model.asked(), world.log.lines().len()), (2, 1));
}

/// Two calls that ask, by agents whose runs may take an hour.
async fn waiting(world: &World, model: &Arc<Provider>) -> Runner {
    let agent =
        world.agent(world.store(), model).max_duration(Duration::from_hours(1)).build().unwrap();
    let agents = Runner::builder().agent("clerk", agent).build().unwrap();
    assert!(agents.start(run()).await.unwrap().waiting().is_some());
    agents
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_time_is_up_while_it_waits_ends_and_its_open_calls_never_run() {
    let world = World::new();
    let model = Provider::new([calls([
        ("find", r#"{"word":"tea"}"#),
        ("pay", r#"{"amount":3}"#),
        ("pay", r#"{"amount":4}"#),
    ])]);
    let agents = waiting(&world, &model).await;
    let call = agents.head("r1").await.unwrap().waiting[0].call;
    let work = tokio::spawn({
        let agents = agents.clone();
        async move { agents.work().await }
    });
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(agents.head("r1").await.unwrap().phase, Phase::Waiting);

    world.pass(Duration::from_mins(61));
    let waits = tokio::time::timeout(Duration::from_mins(1), agents.wait("r1"));
    let ended = waits.await.expect("its time is up").unwrap();
    work.abort();
    assert!(matches!(ended, RunEnd::Limit(Limit::Time { .. })), "{ended}");
    let history = agents.history("r1").await.unwrap();
    assert!(check(&history).unwrap().is_empty());
    let Message::ToolResults(answers) = &history[2] else { panic!("the answers") };
    assert_eq!(answers[0].1.text(), "the meaning of tea");
    assert!(answers[1..].iter().all(|(_, answer)| answer.is_error()));
    assert!(world.approvals().approve(call, &world.key()).await.is_err(), "it is too late");
    assert_eq!((world.log.lines().len(), model.asked()), (1, 1));
    let record = world.store().get(call).await.unwrap().unwrap();
    assert_ne!(record.state, State::Pending);
}
