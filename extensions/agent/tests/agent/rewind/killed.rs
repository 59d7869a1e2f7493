//! A process that dies before and after each commit of a rewind, or in the middle of the files: whatever it leaves, either nothing
//! was changed or the next process finishes it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::sync::Notify;
use toolwright::CallId;
use toolwright::journal::{CommitError, MemoryStore, Store, Transaction};
use toolwright_agent::ScriptedModel;
use toolwright_agent::durable::{RunError, Runs};

use crate::durable::unreadable::Unreadable;

use super::{World, texts, worked, writes};

/// The journal as a process has it that dies at a commit: two moments for each, before and after.
struct Deadly {
    inner: MemoryStore,
    at: u64,
    seen: AtomicU64,
    dead: Arc<Notify>,
}

impl Deadly {
    async fn reached(&self) {
        if self.seen.fetch_add(1, Ordering::SeqCst) == self.at {
            self.dead.notify_one();
            std::future::pending::<()>().await;
        }
    }
}

impl Store for Deadly {
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

/// What the process does that dies.
#[derive(Clone, Copy, PartialEq)]
enum Act {
    Back,
    Redo,
}

async fn acted(runs: &Runs, world: &World, act: Act) -> Result<(), RunError> {
    let now = Timestamp::now();
    match act {
        Act::Back => runs.rewind("r1", 1, None, &world.files, now).await.map(drop),
        Act::Redo => runs.redo("r1", &world.files, now).await.map(drop),
    }
}

/// Dies at this commit; whether it came to its end.
async fn dies(world: &World, act: Act, at: u64) -> bool {
    let (dead, inner) = (Arc::new(Notify::new()), world.store.clone());
    let store = Deadly { inner, at, seen: AtomicU64::new(0), dead: Arc::clone(&dead) };
    let runs = Runs::of(Arc::new(store));
    tokio::select! {
        biased;
        acted = acted(&runs, world, act) => {
            acted.unwrap();
            true
        }
        () = dead.notified() => false,
    }
}

const LEFT: [&str; 3] = ["three", "one", "three"];
const BEFORE: [&str; 3] = ["one", "one", ""];

/// No process goes on with either run of a rewind that is not finished.
async fn is_driven_nowhere(world: &World) {
    for run in ["r1", "r1-at-1"] {
        let agents = world.agents(ScriptedModel::new());
        if run == "r1" {
            let error = agents.send(run, "go on").await.unwrap_err().to_string();
            assert!(error.contains("went back to turn 1"), "{error}");
        } else {
            let error = agents.resume(run).await.unwrap_err().to_string();
            assert!(error.contains("files are not all restored"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_rewind_that_dies_at_any_commit_has_changed_nothing_or_is_finished_by_the_next_process() {
    for at in 0.. {
        let world = World::new();
        worked(&world).await;
        let ends = dies(&world, Act::Back, at).await;
        match world.head("r1").await.rewound.is_some() {
            false => assert_eq!(texts(&world), LEFT, "commit {at}"),
            true if !ends && world.head("r1-at-1").await.rewound.is_some() => {
                is_driven_nowhere(&world).await;
            }
            true => assert_eq!(texts(&world), BEFORE, "commit {at}"),
        }
        match world.rewind("r1", 1).await {
            Ok(_) => assert!(!ends),
            Err(error) => assert!(error.to_string().contains("went back to turn 1"), "{error}"),
        }
        assert_eq!(texts(&world), BEFORE, "commit {at}");
        let model = ScriptedModel::new().answers(writes([("a", "other")])).says("Done.");
        world.agents(model).resume("r1-at-1").await.unwrap();
        assert_eq!(texts(&world), ["other", "one", ""]);
        if ends {
            assert_eq!(at, 4, "there are two commits");
            break;
        }
    }
}

#[tokio::test]
async fn a_redo_that_dies_at_any_commit_is_finished_by_the_next_process() {
    for at in 0.. {
        let world = World::new();
        worked(&world).await;
        world.rewind("r1", 1).await.unwrap();
        let ends = dies(&world, Act::Redo, at).await;
        match world.redo("r1").await {
            Ok(_) => assert!(!ends),
            Err(error) => assert!(error.to_string().contains("has not gone back"), "{error}"),
        }
        assert_eq!(texts(&world), LEFT, "commit {at}");
        assert_eq!(world.head("r1").await.rewound, None);
        if ends {
            assert_eq!(at, 4, "there are two commits");
            break;
        }
    }
}

#[tokio::test]
async fn a_rewind_that_fails_between_two_files_is_finished_or_taken_back() {
    for act in [Act::Back, Act::Redo] {
        let world = World::new();
        worked(&world).await;
        world.files.fail_after(Some(1));
        let error = world.rewind("r1", 1).await.unwrap_err();
        assert!(matches!(error, RunError::ChangeLog { .. }), "{error}");
        assert!(error.to_string().contains("the disk is gone"), "{error}");
        assert_eq!(texts(&world), ["one", "one", "three"], "half of it");
        is_driven_nowhere(&world).await;
        world.files.fail_after(None);
        let other = world.rewind("r1", 2).await.unwrap_err().to_string();
        assert!(other.contains("goes back to turn 1 as run `r1-at-1`"), "{other}");
        acted(&world.runs(), &world, act).await.unwrap();
        assert_eq!(texts(&world), if act == Act::Back { BEFORE } else { LEFT });
    }
}

#[tokio::test]
async fn a_run_is_not_removed_before_its_rewind_is_finished_even_if_the_new_run_cannot_be_read() {
    let world = World::new();
    worked(&world).await;
    world.files.fail_after(Some(1));
    world.rewind("r1", 1).await.unwrap_err();
    world.files.fail_after(None);
    let store = Unreadable::of(world.store.clone());
    store.hide("run/r1-at-1/head", 0..1);
    let early = Runs::of(Arc::new(store)).remove("r1", Timestamp::now()).await.unwrap_err();
    assert!(early.to_string().contains("its files are not all restored"), "{early}");
    world.rewind("r1", 1).await.unwrap();
    assert_eq!(texts(&world), BEFORE);
    world.runs().remove("r1", Timestamp::now()).await.unwrap();
}

#[tokio::test]
async fn a_rewind_is_finished_although_the_run_whose_turns_it_undoes_is_removed() {
    let world = World::new();
    let agents = worked(&world).await;
    agents.fork("r1", 3, "r2").await.unwrap();
    world.files.fail_after(Some(1));
    world.rewind("r2", 1).await.unwrap_err();
    world.files.fail_after(None);
    agents.remove("r1").await.unwrap();
    let rewind = world.rewind("r2", 1).await.unwrap();
    assert_eq!(texts(&world), BEFORE);
    let lasting: Vec<_> = rewind.lasting.iter().map(|it| (it.run.as_str(), it.turn)).collect();
    assert_eq!(lasting, [("r1", 2)], "the bell rang");
}

#[tokio::test]
async fn of_two_processes_that_go_back_at_once_one_does() {
    let world = World::new();
    worked(&world).await;
    let runs = world.runs();
    let (one, two) = tokio::join!(
        runs.rewind("r1", 1, Some("x"), &world.files, Timestamp::now()),
        runs.rewind("r1", 2, Some("y"), &world.files, Timestamp::now()),
    );
    assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
    let expected = if one.is_ok() { BEFORE } else { ["two", "one", ""] };
    assert_eq!(texts(&world), expected);
}
