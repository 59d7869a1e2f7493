//! Runs of which processes die: they are parked, and those that were driven beside them are not.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use toolwright::{Registry, tool};
use toolwright_agent::durable::{NewRun, Runner, Runs};
use toolwright_agent::{Agent, ModelAnswer};

use super::process::{Provider, World, calls};

/// How many runs there are beside the one of which processes die.
const OTHERS: usize = 30;

/// Works for some seconds.
#[tool(effect = read)]
async fn work() -> &'static str {
    sleep(Duration::from_secs(8)).await;
    "worked"
}

/// Kills its process.
#[tool(effect = read)]
async fn kill(dead: &Notify) {
    sleep(Duration::from_secs(2)).await;
    dead.notify_one();
    pending().await
}

/// A process that dies when the tool kills it.
fn process(world: &World, dead: &Arc<Notify>) -> Runner {
    let tools = Registry::of([WORK, KILL]).unwrap();
    let executor = world.executor_of(world.store(), tools).service_arc(Arc::clone(dead));
    let executor = executor.unrestricted().build().unwrap();
    let works = Provider::new([calls([("work", "{}")]), ModelAnswer::text("Done.")]);
    let kills = Provider::new([calls([("kill", "{}")])]);
    let agent = |model| Agent::on(executor.clone(), model).build().unwrap();
    Runner::builder().agent("works", agent(works)).agent("kills", agent(kills)).build().unwrap()
}

/// Lives for so long, or until the process dies: whether it died.
async fn lived(world: &World, time: Duration) -> bool {
    let dead = Arc::new(Notify::new());
    let runner = process(world, &dead);
    let lived = async {
        tokio::select! {
            worked = runner.work() => panic!("it works on: {worked:?}"),
            () = dead.notified() => {}
        }
    };
    timeout(time, lived).await.is_ok()
}

#[tokio::test(start_paused = true)]
async fn a_run_of_which_processes_die_is_parked_and_all_others_end_by_themselves() {
    let world = World::on_tokio_time();
    let submitting = process(&world, &Arc::default());
    submitting.submit(NewRun::new("poison", "kills", "go")).await.unwrap();
    for run in 0..OTHERS {
        submitting.submit(NewRun::new(format!("r{run}"), "works", "go")).await.unwrap();
    }
    let runs = Runs::of(Arc::new(world.store()));
    let mut crashes = 0;
    for _ in 0..9 {
        if runs.head("poison").await.unwrap().parked.is_some() {
            break;
        }
        crashes += u32::from(lived(&world, Duration::from_mins(10)).await);
        for head in runs.list_open().await.unwrap() {
            let head = head.unwrap();
            assert!(head.parked.is_none() || head.run == "poison", "{} is parked", head.run);
        }
    }
    assert_eq!(crashes, 3);
    for run in 0..OTHERS {
        let head = runs.head(&format!("r{run}")).await.unwrap();
        assert_eq!(head.ended.as_deref(), Some("text"), "r{run}: {head:?}");
    }

    // Parking ends by itself, and lasts longer the next time.
    let parked = async || runs.head("poison").await.unwrap().parked.unwrap();
    let length = |parked: toolwright_agent::durable::Parked| {
        parked.until.unwrap().duration_since(parked.at).as_secs() / 60
    };
    assert_eq!(length(parked().await), 10);
    assert!(lived(&world, Duration::from_mins(20)).await, "it is driven again");
    assert!(!lived(&world, Duration::from_mins(2)).await, "it is parked again");
    assert_eq!(length(parked().await), 20);
}
