//! Runs that no worker goes on with: parked ones, and those whose services cannot be made.

use std::future::IntoFuture as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use toolwright::journal::{DocumentWrite, Journal, Store as _, Transaction};
use toolwright::{Executor, OnNoApprover, Registry, tool};
use toolwright_agent::durable::{NewRun, RunError, Runner, RunnerBuilder, Runs};
use toolwright_agent::{Agent, ModelAnswer, RunEnd};

use super::process::{Deadly, Provider, World, calls, until_dead};

fn provider() -> Arc<Provider> {
    Provider::new([calls([("send", r#"{"text":"hello"}"#)]), ModelAnswer::text("Sent.")])
}

/// The failures that a worker reports.
#[derive(Clone, Default)]
struct Failures(Arc<Mutex<Vec<String>>>);

impl Failures {
    fn of(&self, builder: RunnerBuilder) -> Runner {
        let failures = Arc::clone(&self.0);
        let report = move |run: &str, error: &RunError| {
            failures.lock().unwrap().push(format!("{run}: {error}"));
        };
        builder.on_failure(report).build().unwrap()
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// A run whose first driver, and so many after it, died while they asked the model.
async fn died(world: &World, model: &Arc<Provider>, times: u32) {
    for death in 0..times {
        let (store, dead) = Deadly::at(world, 2);
        let agents = world.on(store, model).build().unwrap();
        let driven = async {
            match death {
                0 => agents.start(NewRun::new("r1", "clerk", "go")).await,
                _ => agents.wait("r1").await.map(|_| unreachable!("it dies")),
            }
        };
        assert!(until_dead(driven, &dead).await.is_none(), "death {death}");
        world.pass(Duration::from_mins(2));
    }
}

/// Works for a while.
async fn worked(agents: &Runner) {
    let worked = tokio::time::timeout(Duration::from_secs(20), agents.work()).await;
    assert!(worked.is_err(), "it works on");
}

#[tokio::test(start_paused = true)]
async fn the_operator_hears_once_that_a_run_was_parked_and_who_waits_for_its_end_leaves_it_so() {
    let (world, model, failures) = (World::new(), provider(), Failures::default());
    died(&world, &model, 6).await;
    let agents = failures.of(world.on(world.store(), &model));
    worked(&agents).await;
    let lines = failures.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("6 processes died while they drove turn 1"), "{lines:?}");
    let asked = model.asked();
    let waits = agents.wait("r1").await.unwrap_err();
    assert!(matches!(waits, RunError::Parked { .. }), "{waits}");
    assert_eq!(model.asked(), asked);
    assert!(agents.head("r1").await.unwrap().parked.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_program_that_follows_a_run_by_its_id_leaves_it_parked_when_its_driver_dies() {
    let (world, model) = (World::on_tokio_time(), provider());
    died(&world, &model, 5).await;
    // A worker drives it as the one suspect of its process.
    let (store, dead) = Deadly::at(&world, 2);
    let worker = world.on(store, &model).build().unwrap();
    let driven = async { worker.wait("r1").await.map(|_| unreachable!("it dies")) };
    let followed = world.agent(world.store(), &model).name("clerk").build().unwrap();
    let mut following = Box::pin(followed.run("go").id("r1").into_future());
    tokio::select! {
        biased;
        driven = until_dead(driven, &dead) => assert!(driven.is_none()),
        followed = &mut following => panic!("it is driven: {followed:?}"),
    }
    let asked = model.asked();
    // As soon as the follower has looked while the worker had the lease, that process dies.
    let looked = tokio::time::timeout(Duration::from_secs(10), &mut following).await;
    assert!(looked.is_err(), "it follows: {looked:?}");
    let error = following.await.unwrap_err();
    assert!(error.to_string().contains("run `r1` is parked until"), "{error}");
    let head = world.process(&model).head("r1").await.unwrap();
    assert_eq!((head.parked.is_some(), model.asked()), (true, asked));
    drop(worker);
}

#[tokio::test(start_paused = true)]
async fn an_operator_who_resumes_a_run_drives_it_however_many_drivers_died() {
    let (world, model) = (World::new(), provider());
    died(&world, &model, 6).await;
    let agents = world.process(&model);
    assert!(agents.resume("r1").await.unwrap().ended().is_some());
    assert_eq!(agents.head("r1").await.unwrap().crashes, None);
}

#[tokio::test(start_paused = true)]
async fn a_parked_run_that_is_cancelled_from_the_command_line_ends_and_runs_nothing() {
    let (world, model) = (World::new(), provider());
    died(&world, &model, 6).await;
    let agents = world.process(&model);
    worked(&agents).await;
    assert!(agents.head("r1").await.unwrap().parked.is_some());
    let asked = model.asked();
    let runs = Runs::of(Arc::new(world.store()));
    assert!(runs.cancel("r1", "ada", "it kills us", world.now()).await.unwrap());
    worked(&agents).await;
    let head = agents.head("r1").await.unwrap();
    assert_eq!(head.cancelled.unwrap().who, "ada");
    assert_eq!((head.ended.as_deref(), model.asked()), (Some("cancelled"), asked));
}

/// What a run is about.
struct Ticket;

/// Closes the ticket.
#[tool(effect = once, approval = "it closes a ticket")]
async fn close(_ticket: &Ticket) {}

/// Agents whose runs have a ticket, but for `bad` as long as its ticket is gone.
fn with_tickets(world: &World, model: &Arc<Provider>) -> RunnerBuilder {
    let world = world.clone();
    let executor = Executor::builder(Registry::of([CLOSE]).unwrap())
        .unrestricted()
        .per_run::<Ticket>()
        .journal(
            Journal::new(world.store())
                .on_no_approver(OnNoApprover::Park)
                .clock(move || world.now()),
        )
        .build()
        .unwrap();
    let agent = Agent::on(executor, Arc::clone(model)).build().unwrap();
    Runner::builder().agent("clerk", agent)
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_services_fail_stops_no_other_and_can_be_cancelled() {
    let world = World::new();
    let model = Provider::new([calls([("close", "{}")]), ModelAnswer::text("Closed.")]);
    let first = with_tickets(&world, &model).services(|_, builder| Ok(builder.with(Ticket)));
    let first = first.build().unwrap();
    for run in ["bad", "good"] {
        first.start(NewRun::new(run, "clerk", "close it")).await.unwrap();
    }
    first.submit(NewRun::new("late", "clerk", "close it")).await.unwrap();
    drop(first);

    let failures = Failures::default();
    let agents = failures.of(with_tickets(&world, &model).services(|run, builder| {
        match run.id() == "bad" {
            true => Err("the ticket is gone".into()),
            false => Ok(builder.with(Ticket)),
        }
    }));
    worked(&agents).await;
    let lines = failures.lines();
    assert!(lines.iter().all(|it| it.starts_with("bad: the services of run `bad`")), "{lines:?}");
    assert!(!lines.is_empty());
    assert_eq!(agents.head("late").await.unwrap().waiting.len(), 1, "the others go on");

    agents.cancel("bad", "ada", "no ticket").await.unwrap();
    let head = agents.head("bad").await.unwrap();
    assert_eq!(head.ended.as_deref(), Some("cancelled"));
    assert!(agents.head("good").await.unwrap().ended.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_damaged_list_of_one_run_stops_no_other() {
    let (world, model, failures) = (World::new(), provider(), Failures::default());
    let agents = failures.of(world.on(world.store(), &model));
    agents.submit(NewRun::new("r1", "clerk", "go")).await.unwrap();
    let key = "runs/open/r0".to_owned();
    let write = DocumentWrite { key, expects: None, text: Some("{".into()) };
    let unit = Transaction { documents: vec![write], ..Transaction::default() };
    world.store().commit(unit, Timestamp::now()).await.unwrap();
    worked(&agents).await;
    assert_eq!(agents.head("r1").await.unwrap().ended.as_deref(), Some("text"));
    assert!(failures.lines()[0].starts_with("r0: the journal has no run `r0`"));
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_that_came_after_the_end_is_not_one_of_what_the_user_says_next() {
    let world = World::new();
    let model = Provider::new([ModelAnswer::text("One."), ModelAnswer::text("Two.")]);
    let agents = world.process(&model);
    agents.start(NewRun::new("r1", "clerk", "one")).await.unwrap();
    // Written by who read the head before the run ended.
    let text = r#"{"version":1,"who":"ada","why":"late","at":"2026-01-01T00:00:00Z"}"#;
    let key = "run/r1/cancel".to_owned();
    let write = DocumentWrite { key: key.clone(), expects: None, text: Some(text.into()) };
    let unit = Transaction { documents: vec![write], ..Transaction::default() };
    world.store().commit(unit, Timestamp::now()).await.unwrap();
    let said = agents.send("r1", "two").await.unwrap();
    assert!(matches!(said.ended(), Some(RunEnd::Text { text, .. }) if text == "Two."), "{said}");
    assert!(world.store().document(&key).await.unwrap().is_none());
}
