//! A process dies before and after each commit of a run, and another goes on.

use std::collections::BTreeSet;
use std::time::Duration;

use toolwright_agent::durable::{NewRun, RunError};
use toolwright_agent::{Message, ModelAnswer, RunEnd, check};

use super::process::{Deadly, Provider, World, calls, until_dead};

fn provider() -> std::sync::Arc<Provider> {
    Provider::new([
        calls([("find", r#"{"word":"tea"}"#), ("send", r#"{"text":"hello"}"#)]),
        calls([("send", r#"{"text":"again"}"#)]),
        ModelAnswer::text("Done."),
    ])
}

fn text(history: &[Message]) -> String {
    serde_json::to_string(history).unwrap()
}

/// The messages that were sent, each key once.
fn sent(world: &World) -> BTreeSet<String> {
    world.log.lines().into_iter().filter(|line| line.starts_with("send")).collect()
}

#[tokio::test(start_paused = true)]
async fn a_run_that_dies_at_any_commit_ends_as_one_that_does_not() {
    let (world, model) = (World::new(), provider());
    let agents = world.process(&model);
    agents.start(NewRun::new("r1", "clerk", "greet them")).await.unwrap();
    let expected = text(&agents.history("r1").await.unwrap());
    assert_eq!((model.asked(), sent(&world).len()), (3, 2));

    for at in 0.. {
        let (world, model) = (World::new(), provider());
        let (store, dead) = Deadly::at(&world, at);
        let first = world.on(store, &model).build().unwrap();
        let run = NewRun::new("r1", "clerk", "greet them");
        let whole = until_dead(first.start(run), &dead).await;
        if let Some(ended) = whole {
            assert!(ended.unwrap().ended().is_some());
            assert!(at > 16, "there are more commits than {at}");
            break;
        }
        drop(first);
        let asked = model.asked();
        let second = world.process(&model);
        world.pass(Duration::from_mins(2));
        let resumed = match second.resume("r1").await {
            // It died before anything was recorded.
            Err(RunError::NoSuchRun { .. }) => {
                assert_eq!((at, asked), (0, 0));
                second.start(NewRun::new("r1", "clerk", "greet them")).await
            }
            resumed => resumed,
        };
        assert!(
            matches!(resumed.unwrap().ended(), Some(RunEnd::Text { text, .. }) if text == "Done."),
            "commit {at}"
        );
        let history = second.history("r1").await.unwrap();
        assert_eq!(text(&history), expected, "commit {at}");
        assert!(check(&history).unwrap().is_empty());
        assert_eq!(sent(&world).len(), 2, "commit {at}: each message has one key");
        assert!((3..=4).contains(&model.asked()), "commit {at}: {} requests", model.asked());
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_drivers_die_again_and_again_while_they_ask_is_parked_until_it_is_resumed_by_its_id()
 {
    let (world, model) = (World::new(), provider());
    world.process(&model).submit(NewRun::new("r1", "clerk", "greet them")).await.unwrap();
    for deaths in 1..=6 {
        // The commit by which it takes the run is the first; it dies before the second.
        let (store, dead) = Deadly::at(&world, 2);
        let agents = world.on(store, &model).build().unwrap();
        let work = async { agents.work().await.map(|()| unreachable!("nobody drains it")) };
        assert!(until_dead(work, &dead).await.is_none(), "death {deaths}");
        world.pass(Duration::from_mins(2));
    }
    let agents = world.process(&model);
    let worked = tokio::time::timeout(Duration::from_secs(20), agents.work()).await;
    assert!(worked.is_err(), "it works on, and leaves the run alone");
    let parked = agents.head("r1").await.unwrap().parked.unwrap();
    assert!(parked.why.starts_with("6 processes died while they drove turn 1"), "{}", parked.why);

    let ended = agents.resume("r1").await.unwrap();
    assert!(ended.ended().is_some());
    assert!(agents.head("r1").await.unwrap().parked.is_none());
}
