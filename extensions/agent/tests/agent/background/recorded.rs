//! Recorded runs with calls in the background: they rest without a lease, and read each result once, over restarts.

use std::future::IntoFuture as _;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join;
use tokio::sync::{Notify, Semaphore};
use toolwright::approval::ApproverKey;
use toolwright::journal::{State, Store};
use toolwright::{Executor, IntoTool as _, Registry};
use toolwright_agent::durable::{NewRun, Phase, Progress, RunError, Runner, Runs};
use toolwright_agent::{Agent, BeforeDecision, Guard, Message, ModelAnswer, RunEnd};

use super::{DOOR, handed_over, paint, results, supply};
use crate::durable::process::{Deadly, PAY, Provider, World, calls, until_dead};
use crate::support::outline;

/// What one process has.
struct Process {
    executor: Executor,
    agent: Agent,
    runner: Runner,
}

fn process(world: &World, store: impl Store, model: &Arc<Provider>) -> Process {
    process_of(world, store, model, 25)
}

fn executor_of(world: &World, store: impl Store) -> Executor {
    let key = ApproverKey::from_seed("executor", [9; 32]).unwrap();
    let tools = [paint(Duration::from_secs(3600)).into_tool(), PAY.into_tool()];
    let tools = Registry::of(tools).unwrap();
    let journal = world.journal(Arc::new(store)).hand_over_key(key);
    Executor::builder(tools).service(world.log.clone()).journal(journal).build().unwrap()
}

/// One whose runs take at most so many turns.
fn process_of(world: &World, store: impl Store, model: &Arc<Provider>, turns: u32) -> Process {
    let executor = executor_of(world, store);
    let agent = Agent::on(executor.clone(), Arc::clone(model)).name("clerk").max_turns(turns);
    let agent = agent.build().unwrap();
    let runner = Runner::builder().agent("clerk", agent.clone()).build().unwrap();
    Process { executor, agent, runner }
}

fn painter() -> Arc<Provider> {
    Provider::new([
        calls([DOOR]),
        ModelAnswer::text("It is on its way."),
        ModelAnswer::text("It is blue."),
    ])
}

fn new_run() -> NewRun {
    NewRun::new("r1", "clerk", "Paint the door.")
}

impl Process {
    /// Supplies the result of every call that waits.
    async fn supply_all(&self) {
        for call in self.executor.handed_over().await.unwrap() {
            supply(&self.executor, &call, r#""blue""#).await.unwrap();
        }
    }

    /// Goes on with the run until it ends; the results come as it rests.
    async fn drive(&self, mut progress: Progress) -> Result<Progress, RunError> {
        while progress.waiting().is_some() {
            self.supply_all().await;
            progress = self.runner.resume("r1").await?;
        }
        Ok(progress)
    }

    async fn start(&self) -> Result<Progress, RunError> {
        let progress = self.runner.start(new_run()).await?;
        self.drive(progress).await
    }

    async fn history(&self) -> Vec<Message> {
        self.runner.history("r1").await.unwrap()
    }
}

#[tokio::test]
async fn a_recorded_run_rests_without_a_lease_and_another_process_takes_the_result() {
    let (world, model) = (World::new(), painter());
    let first = process(&world, world.store(), &model);
    let progress = first.runner.start(new_run()).await.unwrap();
    let waiting = progress.waiting().expect("it rests");
    assert_eq!((waiting.calls.len(), waiting.calls[0].in_background), (1, true));
    let head = first.runner.head("r1").await.unwrap();
    assert!(head.phase == Phase::Waiting && head.lease.is_none(), "{head:?}");
    assert_eq!(model.asked(), 2, "the model was asked again at once");
    drop(first);

    let second = process(&world, world.store(), &model);
    let (working, executor) = (second.runner.clone(), second.executor.clone());
    let work = tokio::spawn(async move { working.work().await });
    let call = handed_over(&executor, 1).await.remove(0);
    supply(&executor, &call, r#""blue""#).await.unwrap();
    while second.runner.head("r1").await.unwrap().phase != Phase::Ended {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    work.abort();
    let history = second.history().await;
    assert_eq!((results(&history).len(), model.asked()), (1, 3), "{:?}", outline(&history));
    let record = world.store().get(call.call).await.unwrap().unwrap();
    assert!(record.delivered && record.state == State::Succeeded);
}

#[tokio::test]
async fn a_process_that_dies_at_any_commit_leaves_the_result_to_be_read_once() {
    for at in 0.. {
        let (world, model) = (World::new(), painter());
        let (store, dead) = Deadly::at(&world, at);
        let first = process(&world, store, &model);
        if let Some(ended) = until_dead(first.start(), &dead).await {
            assert!(ended.unwrap().ended().is_some());
            assert!(at > 14, "there are more commits than {at}");
            break;
        }
        drop(first);
        let second = process(&world, world.store(), &model);
        world.pass(Duration::from_mins(2));
        let progress = match second.runner.resume("r1").await {
            Err(RunError::NoSuchRun { .. }) => second.runner.start(new_run()).await,
            resumed => resumed,
        };
        let ended = second.drive(progress.unwrap()).await.unwrap();
        assert!(matches!(ended.ended(), Some(RunEnd::Text { .. })), "commit {at}: {ended}");
        let history = second.history().await;
        // A result that came before the turn was recorded is the answer of its call.
        let whole = serde_json::to_string(&history).unwrap();
        assert_eq!(whole.matches(r#"\"blue\""#).count(), 1, "commit {at}: {whole}");
        assert!(results(&history).len() <= 1, "commit {at}");
        assert!(second.executor.handed_over().await.unwrap().is_empty());
        assert!(model.asked() <= 4, "commit {at}: {} requests", model.asked());
    }
}

#[tokio::test]
async fn a_process_that_dies_as_a_limit_ends_its_run_leaves_no_call_under_way() {
    for at in 0.. {
        let (world, model) = (World::new(), painter());
        let (store, dead) = Deadly::at(&world, at);
        let first = process_of(&world, store, &model, 1);
        let is_over = until_dead(first.runner.start(new_run()), &dead).await.is_some();
        drop(first);
        let second = process_of(&world, world.store(), &model, 1);
        world.pass(Duration::from_mins(2));
        let ended = match second.runner.resume("r1").await {
            Err(RunError::NoSuchRun { .. }) => second.runner.start(new_run()).await,
            resumed => resumed,
        };
        let ended = ended.unwrap();
        assert!(matches!(ended.ended(), Some(RunEnd::Limit(_))), "commit {at}: {ended}");
        assert!(second.executor.handed_over().await.unwrap().is_empty(), "commit {at}");
        let runs = Runs::of(Arc::new(world.store()));
        assert!(runs.list_open().await.unwrap().is_empty(), "commit {at}");
        assert_eq!(runs.list_ended().await.unwrap().len(), 1, "commit {at}");
        if is_over {
            assert!(at > 8, "there are more commits than {at}");
            break;
        }
    }
}

#[tokio::test]
async fn a_recorded_run_whose_call_expires_in_the_background_reads_so_once() {
    let (world, model) = (World::new(), painter());
    let process = process(&world, world.store(), &model);
    let progress = process.runner.start(new_run()).await.unwrap();
    assert!(progress.waiting().is_some());
    world.pass(Duration::from_secs(3601));
    let ended = process.runner.resume("r1").await.unwrap();
    assert!(ended.ended().is_some(), "{ended}");
    let [read] = &results(&process.history().await)[..] else { panic!("one message") };
    assert!(read.contains("expired"), "{read}");
}

#[tokio::test]
async fn a_recorded_run_that_is_cancelled_while_it_rests_cancels_its_call() {
    let (world, model) = (World::new(), painter());
    let process = process(&world, world.store(), &model);
    process.runner.start(new_run()).await.unwrap();
    let call = handed_over(&process.executor, 1).await.remove(0);
    let runs = Runs::of(Arc::new(world.store()));
    runs.cancel("r1", "ada", "not wanted any more", world.now()).await.unwrap();
    let ended = process.runner.resume("r1").await.unwrap();
    assert_eq!(ended.ended(), Some(&RunEnd::Cancelled));
    let record = world.store().get(call.call).await.unwrap().unwrap();
    assert_eq!(record.state, State::Cancelled);
    assert!(runs.list_open().await.unwrap().is_empty());
}

#[tokio::test]
async fn what_is_said_to_a_recorded_run_that_rests_is_answered_before_the_result_comes() {
    let world = World::new();
    let model = Provider::new([
        calls([DOOR]),
        ModelAnswer::text("It is on its way."),
        ModelAnswer::text("Not yet."),
        ModelAnswer::text("It is blue."),
    ]);
    let process = process(&world, world.store(), &model);
    let run = process.agent.run("Paint the door.").id("r1").start().unwrap();
    let says = async {
        while process.runner.head("r1").await.map(|it| it.phase).ok() != Some(Phase::Waiting) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        run.send("Is it done?").await.unwrap();
        while model.asked() < 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        process.supply_all().await;
    };
    let (result, ()) = join(run.clone().into_future(), says).await;
    let result = result.unwrap();
    assert_eq!(result.to_string(), "It is blue.");
    assert_eq!(results(result.history()).len(), 1);
}

#[tokio::test]
async fn what_a_runner_says_to_a_run_that_rests_drives_it() {
    let world = World::new();
    let model = Provider::new([
        calls([DOOR]),
        ModelAnswer::text("It is on its way."),
        ModelAnswer::text("Not yet."),
        ModelAnswer::text("It is blue."),
    ]);
    let process = process(&world, world.store(), &model);
    process.runner.start(new_run()).await.unwrap();
    let progress = process.runner.send("r1", "Is it done?").await.unwrap();
    assert!(progress.waiting().is_some() && model.asked() == 3, "{progress}");
    let ended = process.drive(progress).await.unwrap();
    assert!(ended.ended().is_some(), "{ended}");
    let history = outline(&process.history().await);
    assert_eq!(history[4..6], ["user: Is it done?", "model: Not yet. +0"], "{history:?}");
}

#[tokio::test]
async fn what_is_said_to_a_run_that_rests_is_recorded_once_while_another_process_takes_it() {
    let world = World::new();
    let model = Provider::new([
        calls([DOOR]),
        ModelAnswer::text("It is on its way."),
        ModelAnswer::text("Not yet."),
        ModelAnswer::text("It is blue."),
    ]);
    process(&world, world.store(), &model).runner.start(new_run()).await.unwrap();
    let (reached, goes_on) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
    let (looks, waits) = (Arc::clone(&reached), Arc::clone(&goes_on));
    let slow = Guard::before_run("slow", move |_| {
        let (looks, waits) = (Arc::clone(&looks), Arc::clone(&waits));
        async move {
            looks.notify_one();
            waits.acquire().await.unwrap().forget();
            BeforeDecision::Continue
        }
    });
    let executor = executor_of(&world, world.store());
    let agent = Agent::on(executor, Arc::clone(&model)).name("clerk").guard(slow).build().unwrap();
    let first = Runner::builder().agent("clerk", agent).build().unwrap();
    let takes = tokio::spawn(async move { first.send("r1", "one").await });
    reached.notified().await;

    let second = process(&world, world.store(), &model);
    let says = tokio::spawn({
        let agent = second.agent.clone();
        async move { agent.chat().id("r1").send("two").await.map(|it| it.history().to_vec()) }
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    let inbox = world.store().documents("run/r1/inbox/").await.unwrap();
    assert_eq!(inbox.iter().filter(|it| it.text.contains("two")).count(), 1);
    goes_on.add_permits(9);
    takes.await.unwrap().unwrap();
    second.supply_all().await;
    let history = outline(&says.await.unwrap().unwrap());
    assert_eq!(history[..3], ["user: one", "user: two", "model: Not yet. +0"], "{history:?}");
}

#[tokio::test]
async fn what_is_said_at_any_commit_of_a_run_that_goes_to_rest_is_answered_before_the_result_comes()
{
    for at in 0.. {
        let (world, model) = (World::new(), painter());
        let (store, still) = Deadly::at(&world, at);
        let goes_on = Arc::clone(&store.goes_on);
        let first = process(&world, store, &model);
        let second = process(&world, world.store(), &model);
        let mut driven = Box::pin(first.runner.start(new_run()));
        let is_over = until_dead(&mut driven, &still).await.is_some();
        if is_over {
            assert!(at > 8, "there are more commits than {at}");
            break;
        }
        let said = second.runner.send("r1", "Is it done?").await;
        goes_on.notify_one();
        let progress = driven.await.unwrap();
        match said {
            Err(RunError::NoSuchRun { .. }) => assert!(at == 0, "commit {at}"),
            said => assert!(said.is_ok(), "commit {at}: {said:?}"),
        }
        assert!(at == 0 || progress.waiting().is_some(), "commit {at}: {progress}");
        let history = outline(&second.history().await);
        let is_said = history.iter().position(|it| it == "user: Is it done?");
        let is_answered = is_said.is_some_and(|said| history.len() > said + 1);
        assert!(at == 0 || is_answered, "commit {at}: {history:?}");
    }
}

#[tokio::test]
async fn a_result_that_comes_while_its_turn_waits_for_a_person_is_the_answer_of_its_call() {
    let world = World::new();
    let model = Provider::new([
        calls([DOOR, ("pay", r#"{"amount":5}"#)]),
        ModelAnswer::text("It is blue, and paid for."),
    ]);
    let process = process(&world, world.store(), &model);
    let progress = process.runner.start(new_run()).await.unwrap();
    let waiting = progress.waiting().expect("a person has to decide");
    let tools: Vec<_> = waiting.calls.iter().map(|it| (&*it.tool, it.in_background)).collect();
    assert_eq!(tools, [("pay", false)], "no call in the background holds up the turn");
    let pay = waiting.calls[0].call;
    process.supply_all().await;
    world.approve(pay).await;
    let ended = process.runner.resume("r1").await.unwrap();
    assert!(ended.ended().is_some(), "{ended}");
    let history = process.history().await;
    assert!(results(&history).is_empty());
    assert!(serde_json::to_string(&history).unwrap().contains("blue"));
}

#[tokio::test]
async fn a_fork_says_that_the_result_goes_to_the_other_run() {
    let (world, model) = (World::new(), painter());
    let process = process(&world, world.store(), &model);
    process.start().await.unwrap();
    let runs = Runs::of(Arc::new(world.store()));
    let head = runs.fork("r1", 1, "r2", world.now()).await.unwrap();
    assert_eq!(head.phase, Phase::Asking);
    let history = serde_json::to_string(&process.runner.history("r2").await.unwrap()).unwrap();
    assert!(history.contains("a result that is not below goes there alone"), "{history}");
}
