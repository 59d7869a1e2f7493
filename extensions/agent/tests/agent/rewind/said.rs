//! A message that comes as a run ends which is rewound then, and one that comes during a rewind.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::sync::Notify;
use toolwright::journal::{CommitError, MemoryStore, Store, Transaction};
use toolwright::unstable::changes::{ChangingCalls, FileChanges, RestoredFiles};
use toolwright::{CallId, ErrorClass, ToolError};
use toolwright_agent::durable::{NewRun, Progress, RunError, Runner};
use toolwright_agent::{ModelError, ScriptedModel};

use super::{Files, World, writes};

/// The journal of a process that dies when it has recorded the end of its run, before it lists the run as ended. A message comes just
/// before.
struct SaysAtTheEnd {
    inner: MemoryStore,
    other: Runner,
    dead: Arc<Notify>,
}

impl Store for SaysAtTheEnd {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        Box::pin(async move {
            let text = unit.documents.iter().find(|it| it.key == "run/r1/head");
            let text = text.and_then(|it| it.text.as_deref()).unwrap_or_default();
            let is_end = text.contains(r#""phase":"ended""#);
            if is_end {
                self.other.send("r1", "And d?").await.unwrap();
            }
            let committed = self.inner.commit(unit, now).await;
            if is_end && committed.is_ok() {
                self.dead.notify_one();
                std::future::pending::<()>().await;
            }
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

#[tokio::test(start_paused = true)]
async fn a_message_that_came_before_a_rewind_keeps_no_worker_busy() {
    let (world, dead) = (World::new(), Arc::new(Notify::new()));
    let other = world.agents(ScriptedModel::new());
    let store = SaysAtTheEnd { inner: world.store.clone(), other, dead: Arc::clone(&dead) };
    let model =
        ScriptedModel::new().answers(writes([("a", "one")])).answers(writes([("b", "one")]));
    let model = model.calls([("finish", "{}")]);
    let first = world.agents_on(store, model).build().unwrap();
    tokio::select! {
        biased;
        ended = first.start(NewRun::new("r1", "clerk", "write them")) => panic!("{ended:?}"),
        () = dead.notified() => {}
    }
    drop(first);
    let rewind = world.rewind("r1", 1).await.unwrap();

    let failures = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&failures);
    let model = ScriptedModel::new().answers(writes([("c", "again")])).says("Done.");
    let second = world.agents_on(world.store.clone(), model);
    let second =
        second.on_failure(move |run, error| noted.lock().unwrap().push(format!("{run}: {error}")));
    let second = second.build().unwrap();
    let work = tokio::time::timeout(Duration::from_secs(20), second.work());
    assert!(work.await.is_err(), "nothing drains it");
    assert_eq!(*failures.lock().unwrap(), [""; 0]);
    assert!(world.runs().list_open().await.unwrap().is_empty());
    assert_eq!(world.files.text("c"), "again", "{rewind:?} goes on");
}

/// A log of changes during whose reading a message is sent to a run.
struct SaysMeanwhile<'a> {
    files: &'a Files,
    other: Runner,
    run: &'a str,
}

impl FileChanges for SaysMeanwhile<'_> {
    fn examine<'a>(
        &'a self,
        calls: &'a ChangingCalls,
    ) -> BoxFuture<'a, Result<RestoredFiles, ToolError>> {
        Box::pin(async move {
            let sent = self.other.send(self.run, "And d?").await.unwrap();
            assert!(matches!(sent, Progress::Queued), "{sent}");
            self.files.examine(calls).await
        })
    }

    fn take_back<'a>(
        &'a self,
        calls: &'a ChangingCalls,
        by: CallId,
        run: &'a str,
    ) -> BoxFuture<'a, Result<RestoredFiles, ToolError>> {
        self.files.take_back(calls, by, run)
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_comes_while_the_files_are_examined_stops_the_rewind_and_the_redo() {
    let world = World::new();
    let model =
        ScriptedModel::new().answers(writes([("a", "one")])).answers(writes([("b", "one")]));
    let away = ModelError::new("away", "it is away").class(ErrorClass::Transient);
    let agents = world.agents(model.fails(away));
    let away = agents.start(NewRun::new("r1", "clerk", "write them")).await.unwrap_err();
    assert!(matches!(away, RunError::ModelUnreachable { .. }), "{away}");
    let says = |run| {
        let other = world.agents(ScriptedModel::new());
        SaysMeanwhile { files: &world.files, other, run }
    };
    let now = Timestamp::now();
    let error = world.runs().rewind("r1", 1, None, &says("r1"), now).await.unwrap_err();
    assert!(error.to_string().contains("is changed by another process"), "{error}");
    assert_eq!((world.head("r1").await.rewound, &*world.files.text("b")), (None, "one"));

    world.rewind("r1", 1).await.unwrap();
    let error = world.runs().redo("r1", &says("r1-at-1"), now).await.unwrap_err();
    assert!(error.to_string().contains("is changed by another process"), "{error}");
    let error = world.redo("r1").await.unwrap_err().to_string();
    assert!(error.contains("has done something new"), "{error}");
    assert_eq!(world.store.documents("run/r1-at-1/inbox/").await.unwrap().len(), 1);
}
