//! One driver at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::Notify;
use toolwright::dialect::Dialect;
use toolwright_agent::durable::{NewRun, RunError, Runs};
use toolwright_agent::{Model, ModelAnswer, ModelError, ModelRequest, RunEnd};

use super::process::{Deadly, Provider, World, calls, until_dead};

fn provider() -> std::sync::Arc<Provider> {
    Provider::new([calls([("send", r#"{"text":"hello"}"#)]), ModelAnswer::text("Sent.")])
}

#[tokio::test(start_paused = true)]
async fn a_run_is_driven_by_one_process_until_its_lease_ends() {
    let (world, model) = (World::new(), provider());
    let (store, dead) = Deadly::at(&world, 3);
    let first = world.on(store, &model).build().unwrap();
    assert!(until_dead(first.start(NewRun::new("r1", "clerk", "go")), &dead).await.is_none());
    let second = world.process(&model);
    let early = second.resume("r1").await.unwrap_err();
    assert!(matches!(early, RunError::Driven { .. }), "{early}");
    world.pass(Duration::from_mins(1));
    assert!(second.resume("r1").await.unwrap().ended().is_some());
    assert_eq!(second.head("r1").await.unwrap().epoch, 2);
}

#[tokio::test(start_paused = true)]
async fn two_processes_that_are_started_on_one_run_make_one_of_it() {
    let (world, model) = (World::new(), provider());
    let (first, second) = (world.process(&model), world.process(&model));
    let run = || NewRun::new("r1", "clerk", "go");
    let (one, other) = tokio::join!(first.start(run()), second.start(run()));
    let errors: Vec<RunError> = [one, other].into_iter().filter_map(Result::err).collect();
    assert_eq!(errors, [RunError::Exists { run: "r1".into() }]);
    assert_eq!((model.asked(), world.log.lines().len()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_driver_that_has_lost_its_lease_commits_nothing_more() {
    let (world, model) = (World::new(), provider());
    // It stands still before the commit of the model's answer, for longer than its lease.
    let (store, dead) = Deadly::at(&world, 2);
    let goes_on = std::sync::Arc::clone(&store.goes_on);
    let first = world.on(store, &model).build().unwrap();
    let mut driven = std::pin::pin!(first.start(NewRun::new("r1", "clerk", "go")));
    tokio::select! {
        biased;
        _ = &mut driven => panic!("it stands still"),
        () = dead.notified() => {}
    }
    world.pass(Duration::from_mins(1));
    let second = world.process(&model);
    second.resume("r1").await.unwrap();
    let head = second.head("r1").await.unwrap();
    goes_on.notify_one();
    let late = driven.await.unwrap_err();
    assert_eq!(late, RunError::LeaseLost { run: "r1".into() });
    assert_eq!(second.head("r1").await.unwrap(), head);
    // Both have asked, and the answer that was recorded counts.
    assert_eq!((model.asked(), world.log.lines().len()), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn a_process_that_is_late_to_take_a_run_leaves_the_head_of_the_faster_one() {
    let (world, model) = (World::new(), provider());
    world.process(&model).submit(NewRun::new("r1", "clerk", "go")).await.unwrap();
    // It has read the head, and stands still before the commit that takes the run.
    let (store, dead) = Deadly::at(&world, 0);
    let goes_on = std::sync::Arc::clone(&store.goes_on);
    let first = world.on(store, &model).build().unwrap();
    let mut driven = std::pin::pin!(first.resume("r1"));
    tokio::select! {
        biased;
        _ = &mut driven => panic!("it stands still"),
        () = dead.notified() => {}
    }
    let second = world.process(&model);
    assert!(second.resume("r1").await.unwrap().ended().is_some());
    let head = second.head("r1").await.unwrap();
    goes_on.notify_one();
    assert_eq!(driven.await.unwrap_err(), RunError::LeaseLost { run: "r1".into() });
    assert_eq!(second.head("r1").await.unwrap(), head);
}

#[tokio::test(start_paused = true)]
async fn a_driver_keeps_its_lease_while_a_cancelled_call_takes_its_time_to_end() {
    let (world, model) = (World::new(), provider());
    // The journal takes a minute for the result of the call.
    let (store, reached) = Deadly::at(&world, 6);
    let goes_on = std::sync::Arc::clone(&store.goes_on);
    let first = world.on(store, &model).build().unwrap();
    let driven =
        tokio::spawn(async move { first.start(NewRun::new("r1", "clerk", "go")).await.unwrap() });
    reached.notified().await;
    let runs = Runs::of(std::sync::Arc::new(world.store()));
    assert!(runs.cancel("r1", "ada", "enough", world.now()).await.unwrap());
    for _ in 0..6 {
        tokio::time::sleep(Duration::from_secs(10)).await;
        world.pass(Duration::from_secs(10));
    }
    let early = world.process(&model).resume("r1").await.unwrap_err();
    assert!(matches!(early, RunError::Driven { .. }), "{early}");
    goes_on.notify_one();
    let ended = driven.await.unwrap();
    assert!(matches!(ended.ended(), Some(RunEnd::Cancelled)), "{ended}");
    assert_eq!(runs.head("r1").await.unwrap().crashes, None);
}

/// A model that answers when it is let, and says when it was asked.
#[derive(Clone, Default)]
struct Held {
    asked: Arc<AtomicUsize>,
    may_answer: Arc<Notify>,
}

impl Model for Held {
    fn name(&self) -> &str {
        "held"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(&'a self, _: ModelRequest<'a>) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        let times = self.asked.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            if times > 0 {
                self.may_answer.notified().await;
            }
            Ok(ModelAnswer::text("Done."))
        })
    }
}

#[tokio::test]
async fn a_worker_takes_no_run_from_a_driver_of_its_process_that_is_late_to_renew_its_lease() {
    let (world, model) = (World::new(), Held::default());
    let agents = world.on(world.store(), &Arc::new(model.clone())).build().unwrap();
    agents.start(NewRun::new("r1", "clerk", "say it")).await.unwrap();
    let send = tokio::spawn({
        let agents = agents.clone();
        async move { agents.send("r1", "again").await }
    });
    while model.asked.load(Ordering::SeqCst) < 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // The lease has ended by the clock, and the driver, which would renew it after ten seconds, has not seen that.
    world.pass(Duration::from_mins(1));
    let work = tokio::time::timeout(Duration::from_millis(1_500), agents.work());
    assert!(work.await.is_err(), "nothing drains it");
    assert_eq!(model.asked.load(Ordering::SeqCst), 2, "the answer is paid for twice");
    model.may_answer.notify_one();
    assert!(send.await.unwrap().unwrap().ended().is_some());
    assert_eq!(agents.history("r1").await.unwrap().len(), 4);
}
