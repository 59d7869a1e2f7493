//! Plugins of recorded runs: their states survive every death, are forked with the run, and belong to its one driver.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::sync::Notify;
use toolwright::journal::{CommitError, DocumentWrite, MemoryStore, Store, Transaction};
use toolwright::{CallId, ToolError, tool};
use toolwright_agent::durable::{NewRun, RunError, Runner};
use toolwright_agent::{Agent, ModelAnswer, Plugins, check};

use super::process::{Deadly, FIND, Provider, SEND, World, calls, until_dead};
use crate::plugins::{Guide, House, enter};
use crate::support::{Log, kinds};

fn provider() -> Arc<Provider> {
    Provider::new([
        calls([("find", r#"{"word":"tea"}"#), ("enter", r#"{"room":"hall"}"#)]),
        calls([
            ("leave", "{}"),
            ("enter", r#"{"room":"attic"}"#),
            ("look", "{}"),
            ("send", r#"{"text":"hello"}"#),
        ]),
        ModelAnswer::text("Done."),
    ])
}

fn process(world: &World, store: Arc<dyn Store>, model: &Arc<Provider>) -> Runner {
    let agent = Agent::builder(Arc::clone(model)).tools([FIND, SEND]).service(world.log.clone());
    let agent = agent.unrestricted().journal(world.journal(store)).with(House).with(Guide);
    Runner::builder().agent("clerk", agent.build().unwrap()).build().unwrap()
}

/// What is recorded of the plugins, turn by turn.
async fn recorded(world: &World, run: &str) -> Vec<serde_json::Value> {
    let mut turns = Vec::new();
    for turn in 1..=3 {
        let key = format!("run/{run}/turn/{turn}/plugins");
        let Some(found) = world.store().document(&key).await.unwrap() else { continue };
        let found: serde_json::Value = serde_json::from_str(&found.text).unwrap();
        turns.push(found["body"]["plain"].clone());
    }
    turns
}

/// The journal as a process has it that is killed: from that commit on, it commits nothing any more, also not what tasks of the
/// runtime would that outlive the imitation.
struct Killed {
    inner: MemoryStore,
    at: u64,
    seen: AtomicU64,
    dead: Arc<Notify>,
}

impl Killed {
    /// Dies at this commit, counted from 0 over commits: two for each, before and after.
    fn at(world: &World, at: u64) -> (Self, Arc<Notify>) {
        let dead = Arc::new(Notify::new());
        let (inner, seen) = (world.store(), AtomicU64::new(0));
        (Self { inner, at, seen, dead: Arc::clone(&dead) }, dead)
    }

    async fn reached(&self) {
        if self.seen.fetch_add(1, Ordering::SeqCst) >= self.at {
            self.dead.notify_one();
            std::future::pending::<()>().await;
        }
    }
}

impl Store for Killed {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        Box::pin(async move {
            self.reached().await;
            let committed = self.inner.commit(unit, now).await;
            self.reached().await;
            committed
        })
    }

    fn renew<'a>(
        &'a self,
        call: CallId,
        epoch: u64,
        until: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        self.inner.renew(call, epoch, until)
    }

    fn acknowledge<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<(), CommitError>> {
        self.inner.acknowledge(call)
    }

    toolwright::pass_on_questions!(inner);
}

fn task() -> NewRun {
    NewRun::new("r1", "clerk", "visit the house")
}

#[tokio::test(start_paused = true)]
async fn the_states_of_plugins_are_those_of_a_run_that_did_not_die_whatever_commit_it_dies_at() {
    let (world, model) = (World::new(), provider());
    let agents = process(&world, Arc::new(world.store()), &model);
    agents.start(task()).await.unwrap();
    let expected = recorded(&world, "r1").await;
    assert_eq!(expected[1]["states"]["house"]["rooms"], serde_json::json!(["hall", "attic"]));
    assert_eq!(expected[1]["added"], serde_json::json!(["leave"]));
    assert_eq!(expected[1]["left_out"], serde_json::json!(["look"]));
    assert_eq!(expected[2]["states"]["guide"]["rooms"], serde_json::json!([0, 1, 2]));
    assert_eq!(expected[2]["states"]["guide"]["end"], "ended with a text");
    let history = agents.history("r1").await.unwrap();
    let answered = [vec!["ok", "ok"], vec!["ok", "ok", "gone_tool", "ok"]];
    assert_eq!(kinds(&history), answered);

    for at in 0.. {
        let (world, model) = (World::new(), provider());
        let (store, dead) = Killed::at(&world, at);
        let first = process(&world, Arc::new(store), &model);
        if let Some(ended) = until_dead(first.start(task()), &dead).await {
            assert!(ended.unwrap().ended().is_some());
            assert!(at > 24, "there are more commits than {at}");
            break;
        }
        drop(first);
        let second = process(&world, Arc::new(world.store()), &model);
        world.pass(Duration::from_mins(2));
        let resumed = match second.resume("r1").await {
            Err(RunError::NoSuchRun { .. }) => second.start(task()).await,
            resumed => resumed,
        };
        assert!(resumed.unwrap().ended().is_some(), "commit {at}");
        let history = second.history("r1").await.unwrap();
        assert!(check(&history).unwrap().is_empty());
        let said = serde_json::to_string(&history).unwrap();
        assert_eq!(kinds(&history), answered, "commit {at}: {said}");
        assert_eq!(recorded(&world, "r1").await, expected, "commit {at}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_fork_has_the_states_of_its_turn() {
    let (world, model) = (World::new(), provider());
    let agents = process(&world, Arc::new(world.store()), &model);
    agents.start(task()).await.unwrap();
    agents.fork("r1", 1, "r2").await.unwrap();
    let (of_r1, of_r2) = (recorded(&world, "r1").await, recorded(&world, "r2").await);
    assert_eq!((of_r2.len(), &of_r2[0]), (1, &of_r1[0]));
    agents.resume("r2").await.unwrap();
    assert_eq!(recorded(&world, "r2").await, of_r1);
    agents.remove("r1").await.unwrap();
    assert!(recorded(&world, "r1").await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_recorded_state_that_does_not_fit_names_its_document_and_the_run_goes_on_when_it_does() {
    let (world, model) = (World::new(), provider());
    let (store, dead) = Deadly::at(&world, 16);
    let first = process(&world, Arc::new(store), &model);
    assert!(until_dead(first.start(task()), &dead).await.is_none());
    drop(first);
    world.pass(Duration::from_mins(2));

    let key = "run/r1/turn/1/plugins";
    let found = world.store().document(key).await.unwrap().unwrap();
    let replace = async |from: &str, to: &str, version: u64| {
        let text = Some(found.text.replace(from, to));
        let write = DocumentWrite { key: key.to_owned(), expects: Some(version), text };
        let unit = Transaction { documents: vec![write], ..Transaction::default() };
        world.store().commit(unit, world.now()).await.unwrap();
    };
    replace(r#"["hall"]"#, r#"["hall",{}]"#, found.version).await;
    let second = process(&world, Arc::new(world.store()), &model);
    let error = second.resume("r1").await.unwrap_err().to_string();
    for words in [key, "the state of the plugin `house`", "/rooms/1: found"] {
        assert!(error.contains(words), "{error}");
    }
    replace("", "", found.version + 1).await;
    assert!(second.resume("r1").await.unwrap().ended().is_some());
}

#[tokio::test(start_paused = true)]
async fn an_agent_without_the_plugins_goes_on_and_says_so_and_their_states_stay() {
    let (world, model) = (World::new(), provider());
    let (store, dead) = Deadly::at(&world, 16);
    let first = process(&world, Arc::new(store), &model);
    assert!(until_dead(first.start(task()), &dead).await.is_none());
    drop(first);
    world.pass(Duration::from_mins(2));
    let before = recorded(&world, "r1").await;
    world.process(&model).resume("r1").await.unwrap();
    assert_eq!(recorded(&world, "r1").await, before);
}

/// Lets the tool of one process go on.
#[derive(Clone, Default)]
struct Gate(Arc<Notify>);

/// Enters a room as soon as it may.
#[tool(effect = idempotent, danger = safe, writes())]
async fn enter_later(
    plugins: &Plugins,
    log: &Log,
    gate: &Gate,
    /// Which.
    room: String,
) -> Result<usize, ToolError> {
    log.add("waits");
    gate.0.notified().await;
    enter(plugins, room).await
}

#[tokio::test(start_paused = true)]
async fn a_driver_that_has_lost_the_run_sets_no_state_of_it_any_more() {
    let (world, call) = (World::new(), ("enter_later", r#"{"room":"hall"}"#));
    let model = Provider::new([calls([call]), ModelAnswer::text("Done.")]);
    let process = |gate: &Gate| {
        let agent = Agent::builder(Arc::clone(&model)).tools([ENTER_LATER]).unrestricted();
        let agent = agent.service(world.log.clone()).service(gate.clone());
        let agent = agent.journal(world.journal(Arc::new(world.store()))).with(House);
        Runner::builder().agent("clerk", agent.build().unwrap()).build().unwrap()
    };
    let waits = async |times| {
        while world.log.lines().len() < times {
            tokio::task::yield_now().await;
        }
    };
    let (one, two) = (Gate::default(), Gate::default());
    let first = process(&one);
    let first = tokio::spawn(async move { first.start(task()).await });
    waits(1).await;
    world.pass(Duration::from_mins(2));
    let second = process(&two);
    let second = tokio::spawn(async move { second.resume("r1").await });
    waits(2).await;
    one.0.notify_one();
    assert!(first.await.unwrap().is_err());
    two.0.notify_one();
    assert!(second.await.unwrap().unwrap().ended().is_some());
    let history = process(&two).history("r1").await.unwrap();
    assert_eq!(kinds(&history), [["ok"]]);
    let turns = recorded(&world, "r1").await;
    assert_eq!(turns[0]["states"]["house"]["rooms"], serde_json::json!(["hall"]));
}

/// Enters a room, and gives the change up as soon as its commit has begun.
#[tool(effect = idempotent, danger = safe, writes())]
async fn enter_and_leave(plugins: &Plugins) -> Result<String, ToolError> {
    {
        let mut entering = std::pin::pin!(enter(plugins, "hall".to_owned()));
        // The store answers a moment later.
        let _ = futures::poll!(entering.as_mut());
    }
    Ok("left".to_owned())
}

/// A journal that commits at once and answers a moment later.
struct Slow {
    inner: MemoryStore,
}

impl Store for Slow {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        Box::pin(async move {
            let committed = self.inner.commit(unit, now).await;
            tokio::task::yield_now().await;
            committed
        })
    }

    fn renew<'a>(
        &'a self,
        call: CallId,
        epoch: u64,
        until: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        self.inner.renew(call, epoch, until)
    }

    fn acknowledge<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<(), CommitError>> {
        self.inner.acknowledge(call)
    }

    toolwright::pass_on_questions!(inner);
}

#[tokio::test]
async fn a_change_of_a_state_that_is_given_up_is_no_damage_and_is_as_it_is_recorded() {
    let world = World::new();
    let model = Provider::new([
        calls([("enter_and_leave", "{}")]),
        calls([("enter", r#"{"room":"attic"}"#)]),
        ModelAnswer::text("Done."),
    ]);
    let agent = Agent::builder(Arc::clone(&model)).tools([ENTER_AND_LEAVE]).unrestricted();
    let agent = agent
        .journal(world.journal(Arc::new(Slow { inner: world.store() })))
        .with(House)
        .with(Guide);
    let runner = Runner::builder().agent("clerk", agent.build().unwrap()).build().unwrap();
    let ended = runner.start(task()).await.unwrap();
    assert!(ended.ended().is_some_and(|it| it.to_string() == "ended with a text"), "{ended}");
    let turns = recorded(&world, "r1").await;
    let rooms = |turn: usize| turns[turn]["states"]["house"]["rooms"].clone();
    assert_eq!(rooms(0), serde_json::json!(["hall"]));
    assert_eq!(rooms(1), serde_json::json!(["hall", "attic"]));
}
