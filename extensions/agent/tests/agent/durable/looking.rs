//! What a worker reads while it looks for runs, and which it takes first.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::timeout;
use toolwright_agent::ModelAnswer;
use toolwright_agent::durable::{NewRun, Phase, RunFilter, Runner, Runs};

use super::at_once::Slow;
use super::process::{Provider, World, calls};
use super::unreadable::Unreadable;

/// Runs that wait for a person.
const WAITING: usize = 400;

async fn worked(agents: &Runner, time: Duration) {
    assert!(timeout(time, agents.work()).await.is_err(), "it works on");
}

#[tokio::test(start_paused = true)]
async fn a_new_run_ends_beside_many_that_wait_without_a_look_at_each_of_them() {
    let world = World::on_tokio_time();
    let pays = Provider::new([calls([("pay", r#"{"amount":3}"#)]), ModelAnswer::text("Paid.")]);
    let store = Unreadable::of(world.store());
    let runner = world.on(store.clone(), &pays).build().unwrap();
    for run in 0..WAITING {
        runner.start(NewRun::new(format!("r{run}"), "clerk", "pay")).await.unwrap();
    }
    let working = tokio::spawn({
        let runner = runner.clone();
        async move { runner.work().await }
    });
    // It has looked at each of them.
    tokio::time::sleep(Duration::from_mins(1)).await;
    let before = store.reads();
    runner.submit(NewRun::new("zz", "clerk", "pay")).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(runner.head("zz").await.unwrap().phase, Phase::Waiting);
    let reads = store.reads() - before;
    assert!(reads < WAITING, "{reads} reads for one run");

    // Of all that wait, the one goes on whose call was decided.
    let call = runner.head("r250").await.unwrap().waiting[0].call;
    world.approve(call).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(runner.head("r250").await.unwrap().phase, Phase::Ended);
    // And one that is cancelled, in a while.
    let runs = Runs::of(Arc::new(world.store()));
    runs.cancel("r7", "ada", "no more", world.now()).await.unwrap();
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(runner.head("r7").await.unwrap().ended.as_deref(), Some("cancelled"));
    working.abort();
}

/// Another process finds a run by its looks, each of which is followed by a pause of nine times its time.
#[tokio::test(start_paused = true)]
async fn a_run_that_its_own_process_submits_is_taken_up_without_a_look_at_the_list() {
    let world = World::on_tokio_time();
    let store = Unreadable::of(world.store()).with_long_list(Duration::from_secs(2));
    let model = Provider::new([ModelAnswer::text("Done.")]);
    let runner = world.on(store.clone(), &model).build().unwrap();
    let elsewhere = world.process(&model);
    let working = tokio::spawn({
        let runner = runner.clone();
        async move { runner.work().await }
    });
    // It looks for work at once, and again as soon as it rested.
    tokio::time::sleep(Duration::from_secs(10)).await;
    let ended_within = async |run: &str, seconds: u64| {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        runner.head(run).await.unwrap().phase == Phase::Ended
    };
    runner.submit(NewRun::new("here", "clerk", "go")).await.unwrap();
    assert!(ended_within("here", 1).await);
    elsewhere.submit(NewRun::new("elsewhere", "clerk", "go")).await.unwrap();
    assert!(!ended_within("elsewhere", 1).await);
    assert!(ended_within("elsewhere", 30).await);
    working.abort();
}

#[tokio::test(start_paused = true)]
async fn the_oldest_runs_are_taken_first_whatever_their_names() {
    let (world, model) = (World::on_tokio_time(), Arc::new(Slow::default()));
    let runner = world.on(world.store(), &model);
    let runner = runner.runs_at_once(NonZeroUsize::MIN).build().unwrap();
    // Ten of them go on at once.
    let runs: Vec<String> = (0..20).map(|run| format!("r{}", 99 - run)).collect();
    for run in &runs {
        runner.submit(NewRun::new(run, "clerk", "go")).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    worked(&runner, Duration::from_secs(90)).await;
    for (place, run) in runs.iter().enumerate() {
        assert_eq!(runner.head(run).await.unwrap().ended.is_some(), place < 10, "{run}");
    }
}

#[tokio::test(start_paused = true)]
async fn runs_are_found_by_their_user_what_they_do_and_their_age() {
    let world = World::on_tokio_time();
    let pays = Provider::new([calls([("pay", r#"{"amount":3}"#)]), ModelAnswer::text("Paid.")]);
    let runner = world.process(&pays);
    runner.start(NewRun::new("r1", "clerk", "pay").user("ada")).await.unwrap();
    tokio::time::sleep(Duration::from_hours(3)).await;
    runner.start(NewRun::new("r2", "clerk", "pay").user("ada").session("s")).await.unwrap();
    runner.start(NewRun::new("r3", "clerk", "pay").user("bob")).await.unwrap();
    world.approve(runner.head("r3").await.unwrap().waiting[0].call).await;
    runner.resume("r3").await.unwrap();
    let runs = Runs::of(Arc::new(world.store()));
    let found = async |filter: RunFilter| -> Vec<String> {
        let heads = runs.find(&filter).await.unwrap();
        heads.into_iter().map(|head| head.run).collect()
    };
    let all = RunFilter::new;
    let now: Timestamp = world.now();
    assert_eq!(found(all()).await, ["r1", "r2", "r3"]);
    assert_eq!(found(all().user("ada")).await, ["r1", "r2"]);
    assert_eq!(found(all().phase(Phase::Ended)).await, ["r3"]);
    assert_eq!(found(all().phase(Phase::Waiting).session("s")).await, ["r2"]);
    assert_eq!(found(all().older_than(SignedDuration::from_hours(2), now)).await, ["r1"]);
    assert_eq!(found(all().parked()).await, [""; 0]);
    assert_eq!(found(all().agent("other")).await, [""; 0]);
}
