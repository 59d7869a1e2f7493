//! Going back to an earlier turn of a run, with its files: what is restored, what is refused, and a process that dies anywhere.

mod killed;
mod said;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use toolwright::journal::{DocumentWrite, Journal, MemoryStore, Store, Transaction};
use toolwright::provider::ToolCall;
use toolwright::unstable::changes::{ChangingCalls, FileChanges, RefusedFile, RestoredFiles};
use toolwright::{CallId, Executor, OnNoApprover, Registry, ToolContext, ToolError, tool};
use toolwright_agent::durable::{
    Head, NewRun, Phase, Rewound, RunError, Runner, RunnerBuilder, Runs,
};
use toolwright_agent::{Agent, ModelAnswer, ScriptedModel, check};

/// One change of a file, which had the text before it.
#[derive(Clone)]
struct Change {
    file: String,
    before: String,
    after: String,
    run: String,
    turn: Option<u64>,
    call: CallId,
    is_undone: bool,
    /// The changes that it takes back.
    undoes: Vec<usize>,
}

/// Files, and a log of what calls change in them.
#[derive(Clone, Default)]
pub struct Files(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    files: BTreeMap<String, String>,
    changes: Vec<Change>,
    /// How many files it restores before it fails.
    fails_after: Option<usize>,
}

impl Files {
    fn text(&self, file: &str) -> String {
        self.0.lock().unwrap().files.get(file).cloned().unwrap_or_default()
    }

    /// As a person does, of whom the log knows nothing.
    fn put(&self, file: &str, text: &str) {
        self.0.lock().unwrap().files.insert(file.to_owned(), text.to_owned());
    }

    fn write(&self, file: &str, text: &str, context: &ToolContext) {
        let mut inner = self.0.lock().unwrap();
        let before = inner.files.insert(file.to_owned(), text.to_owned()).unwrap_or_default();
        inner.changes.push(Change {
            file: file.to_owned(),
            before,
            after: text.to_owned(),
            run: context.run_id().unwrap().to_owned(),
            turn: context.turn(),
            call: context.call_id(),
            is_undone: false,
            undoes: Vec::new(),
        });
    }

    fn fail_after(&self, files: Option<usize>) {
        self.0.lock().unwrap().fails_after = files;
    }
}

impl Inner {
    /// What becomes of each file: its text before the calls.
    fn found(&self, calls: &ChangingCalls) -> (RestoredFiles, BTreeMap<String, String>) {
        let is_of = |it: &Change| is_of(it, calls);
        let (mut found, mut before) = (RestoredFiles::default(), BTreeMap::new());
        let names: BTreeSet<&String> =
            self.changes.iter().filter(|it| is_of(it)).map(|it| &it.file).collect();
        found.recorded = self.changes.iter().filter(|it| is_of(it)).map(|it| it.call).collect();
        for name in names {
            let is_visible = |it: &&Change| !it.is_undone && (it.undoes.is_empty() || is_of(it));
            let all = self.changes.iter().filter(|it| it.file == *name).filter(is_visible);
            let all: Vec<&Change> = all.collect();
            let Some(first) = all.iter().position(|it| is_of(it)) else { continue };
            let now = self.files.get(name).cloned().unwrap_or_default();
            if now == all[first].before {
                continue;
            }
            let later = all[first..].iter().find(|it| !is_of(it));
            let why = match later {
                Some(later) => Some(format!("`{name}` was changed by run {}", later.run)),
                None if all.last().unwrap().after != now => {
                    Some(format!("`{name}` is not what it was"))
                }
                None => None,
            };
            match why {
                Some(why) => found.refused.push(RefusedFile { name: name.clone(), why }),
                None => drop(before.insert(name.clone(), all[first].before.clone())),
            }
        }
        if found.refused.is_empty() {
            found.restored = before.keys().cloned().collect();
        }
        (found, before)
    }
}

impl FileChanges for Files {
    fn examine<'a>(
        &'a self,
        calls: &'a ChangingCalls,
    ) -> BoxFuture<'a, Result<RestoredFiles, ToolError>> {
        let found = self.0.lock().unwrap().found(calls).0;
        Box::pin(async { Ok(found) })
    }

    fn take_back<'a>(
        &'a self,
        calls: &'a ChangingCalls,
        by: CallId,
        run: &'a str,
    ) -> BoxFuture<'a, Result<RestoredFiles, ToolError>> {
        Box::pin(async move {
            let mut inner = self.0.lock().unwrap();
            let (found, before) = inner.found(calls);
            if !found.refused.is_empty() {
                return Ok(found);
            }
            for (index, (file, text)) in before.into_iter().enumerate() {
                if inner.fails_after.is_some_and(|after| index >= after) {
                    return Err(ToolError::new("disk", "the disk is gone"));
                }
                let now = inner.files.insert(file.clone(), text.clone()).unwrap_or_default();
                let taken = inner.changes.iter().enumerate();
                let taken =
                    taken.filter(|(_, it)| it.file == file && !it.is_undone && is_of(it, calls));
                let taken: Vec<usize> = taken.map(|it| it.0).collect();
                let mut again = Vec::new();
                for index in &taken {
                    inner.changes[*index].is_undone = true;
                    again.extend(inner.changes[*index].undoes.clone());
                }
                again.iter().for_each(|index| inner.changes[*index].is_undone = false);
                // To take an undo back lets what it undid count again.
                if again.is_empty() {
                    let (run, undoes) = (run.to_owned(), taken);
                    inner.changes.push(Change {
                        file,
                        before: now,
                        after: text,
                        run,
                        turn: None,
                        call: by,
                        is_undone: false,
                        undoes,
                    });
                }
            }
            Ok(found)
        })
    }
}

fn is_of(change: &Change, calls: &ChangingCalls) -> bool {
    let is_at = |(run, turn): &(String, u64)| change.turn == Some(*turn) && change.run == *run;
    calls.calls.contains(&change.call) || calls.turns.iter().any(is_at)
}

/// Writes a file.
#[tool(effect = once)]
async fn write_text(
    files: &Files,
    context: &ToolContext,
    /// Which.
    file: String,
    /// What.
    text: String,
) -> String {
    files.write(&file, &text, context);
    format!("wrote {file}")
}

/// Rings a bell.
#[tool(effect = once)]
async fn ring() -> String {
    "it rang".to_owned()
}

/// Ends the run.
#[tool(terminal, effect = once)]
async fn finish() -> String {
    "it is finished".to_owned()
}

#[derive(Clone)]
struct World {
    store: MemoryStore,
    files: Files,
}

impl World {
    fn new() -> Self {
        Self { store: MemoryStore::new(), files: Files::default() }
    }

    fn runs(&self) -> Runs {
        Runs::of(Arc::new(self.store.clone()))
    }

    fn agents(&self, model: ScriptedModel) -> Runner {
        self.agents_on(self.store.clone(), model).build().unwrap()
    }

    /// Agents of a process that has a store of its own on the journal.
    fn agents_on(&self, store: impl Store, model: ScriptedModel) -> RunnerBuilder {
        let store: Arc<dyn Store> = Arc::new(store);
        let executor = Executor::builder(Registry::of([WRITE_TEXT, RING, FINISH]).unwrap())
            .unrestricted()
            .service(self.files.clone())
            .journal(Journal::shared(store).on_no_approver(OnNoApprover::Park));
        let agent = Agent::on(executor.build().unwrap(), model).build().unwrap();
        Runner::builder().agent("clerk", agent)
    }

    async fn head(&self, run: &str) -> Head {
        self.runs().head(run).await.unwrap()
    }

    async fn rewind(
        &self,
        run: &str,
        turn: u64,
    ) -> Result<toolwright_agent::durable::Rewind, RunError> {
        self.runs().rewind(run, turn, None, &self.files, jiff::Timestamp::now()).await
    }

    async fn redo(&self, run: &str) -> Result<toolwright_agent::durable::Redone, RunError> {
        self.runs().redo(run, &self.files, jiff::Timestamp::now()).await
    }
}

fn writes<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> ModelAnswer {
    let call = |(index, (file, text)): (usize, (&str, &str))| ToolCall {
        id: Some(format!("c{index}")),
        name: "write_text".to_owned(),
        arguments: format!(r#"{{"file":"{file}","text":"{text}"}}"#),
    };
    ModelAnswer::new("", files.into_iter().enumerate().map(call).collect::<Vec<_>>())
}

/// A run of four turns: two files, one of them again and a bell, a third, a text.
fn script() -> ScriptedModel {
    let bell = ToolCall { id: Some("bell".into()), name: "ring".into(), arguments: "{}".into() };
    let mut again = writes([("a", "two")]);
    again.calls.push(bell);
    ScriptedModel::new()
        .answers(writes([("a", "one"), ("b", "one")]))
        .answers(again)
        .answers(writes([("c", "three"), ("a", "three")]))
        .says("Done.")
}

async fn worked(world: &World) -> Runner {
    let agents = world.agents(script());
    agents.start(NewRun::new("r1", "clerk", "write them")).await.unwrap();
    agents
}

fn texts(world: &World) -> [String; 3] {
    ["a", "b", "c"].map(|file| world.files.text(file))
}

#[tokio::test]
async fn a_run_goes_back_with_its_files_and_says_what_stays() {
    let world = World::new();
    worked(&world).await;
    assert_eq!(texts(&world), ["three", "one", "three"]);
    let rewind = world.rewind("r1", 1).await.unwrap();
    assert_eq!(texts(&world), ["one", "one", ""]);
    assert_eq!(rewind.files, ["a", "c"]);
    let lasting: Vec<_> = rewind.lasting.iter().map(|it| (it.turn, it.tool.as_str())).collect();
    assert_eq!(lasting, [(2, "ring")]);
    let head = &rewind.head;
    assert_eq!((head.run.as_str(), head.turn, head.phase), ("r1-at-1", 1, Phase::Asking));
    assert_eq!(head.rewound, None);
    let to = Rewound::To { run: "r1-at-1".into(), turn: 1 };
    assert_eq!(world.head("r1").await.rewound, Some(to));

    // The new run goes on, and the old one is set aside.
    let model = ScriptedModel::new().answers(writes([("a", "other")])).says("Other.");
    let agents = world.agents(model);
    assert_eq!(agents.resume("r1-at-1").await.unwrap().to_string(), "ended with a text");
    assert_eq!(texts(&world), ["other", "one", ""]);
    assert!(check(&agents.history("r1-at-1").await.unwrap()).unwrap().is_empty());
    let refused = agents.send("r1", "go on").await.unwrap_err().to_string();
    assert!(refused.contains("went back to turn 1 as run `r1-at-1`"), "{refused}");
    let again = world.rewind("r1", 2).await.unwrap_err().to_string();
    assert!(again.contains("went back to turn 1 as run `r1-at-1`"), "{again}");
}

#[tokio::test]
async fn a_rewind_is_taken_back_until_something_new_is_done() {
    let world = World::new();
    worked(&world).await;
    world.rewind("r1", 1).await.unwrap();
    // Either run names it.
    let redone = world.redo("r1-at-1").await.unwrap();
    assert_eq!((redone.head.run.as_str(), redone.removed.as_str()), ("r1", "r1-at-1"));
    assert_eq!(texts(&world), ["three", "one", "three"]);
    assert_eq!(world.head("r1").await.rewound, None);
    let gone = world.runs().head("r1-at-1").await.unwrap_err();
    assert!(matches!(gone, RunError::NoSuchRun { .. }), "{gone}");
    let nothing = world.redo("r1").await.unwrap_err().to_string();
    assert!(nothing.contains("has not gone back"), "{nothing}");

    // The id of the removed run stays taken.
    let second = world.rewind("r1", 1).await.unwrap();
    assert_eq!(second.head.run, "r1-at-1-2");
    assert_eq!(texts(&world), ["one", "one", ""]);
    world.agents(ScriptedModel::new().says("New.")).resume("r1-at-1-2").await.unwrap();
    let new = world.redo("r1").await.unwrap_err().to_string();
    assert!(new.contains("`r1-at-1-2` has done something new"), "{new}");
    assert_eq!(texts(&world), ["one", "one", ""]);
}

#[tokio::test]
async fn a_word_to_a_run_that_had_ended_is_something_new() {
    let world = World::new();
    let model = ScriptedModel::new()
        .answers(writes([("a", "one")]))
        .says("Yes.")
        .answers(writes([("a", "two")]))
        .says("Done.");
    let agents = world.agents(model);
    agents.start(NewRun::new("r1", "clerk", "write")).await.unwrap();
    agents.send("r1", "again").await.unwrap();
    let rewind = world.rewind("r1", 2).await.unwrap();
    assert_eq!((rewind.head.phase, world.files.text("a").as_str()), (Phase::Ended, "one"));
    let agents = world.agents(
        ScriptedModel::new().fails(toolwright_agent::ModelError::new("down", "it is down")),
    );
    let _ = agents.send("r1-at-2", "something else").await;
    let new = world.redo("r1").await.unwrap_err().to_string();
    assert!(new.contains("has done something new"), "{new}");
}

#[tokio::test]
async fn a_file_that_a_person_changed_refuses_the_rewind_and_the_redo_and_nothing_is_changed() {
    let world = World::new();
    worked(&world).await;
    world.files.put("c", "by hand");
    let error = world.rewind("r1", 1).await.unwrap_err();
    assert_eq!(error.to_string(), "the files of run `r1` cannot go back: `c` is not what it was");
    assert_eq!(texts(&world), ["three", "one", "by hand"]);
    assert_eq!(world.head("r1").await.rewound, None);
    assert!(world.runs().head("r1-at-1").await.is_err());

    world.files.put("c", "three");
    world.rewind("r1", 1).await.unwrap();
    world.files.put("a", "by hand");
    let error = world.redo("r1").await.unwrap_err();
    assert!(matches!(&error, RunError::FilesChanged { files, .. } if files.len() == 1), "{error}");
    assert_eq!(world.head("r1-at-1").await.rewound, None, "it may still go on");
}

#[tokio::test]
async fn what_is_past_a_fork_belongs_to_the_run_that_did_it() {
    let world = World::new();
    let agents = worked(&world).await;
    agents.fork("r1", 2, "r2").await.unwrap();
    // The first run has gone on past the fork: its change of `a` is in the way.
    let error = world.rewind("r2", 1).await.unwrap_err().to_string();
    assert!(error.contains("`a` was changed by run r1"), "{error}");

    let world = World::new();
    let agents = worked(&world).await;
    drop(agents);
    world.rewind("r1", 2).await.unwrap();
    let agents = world.agents(ScriptedModel::new().answers(writes([("b", "new")])).says("Done."));
    agents.resume("r1-at-2").await.unwrap();
    assert_eq!(texts(&world), ["two", "new", ""]);
    let rewind = world.rewind("r1-at-2", 1).await.unwrap();
    assert_eq!(texts(&world), ["one", "one", ""]);
    let lasting: Vec<_> = rewind.lasting.iter().map(|it| (it.run.as_str(), it.turn)).collect();
    assert_eq!(lasting, [("r1", 2)], "the bell rang in the first run");
}

#[tokio::test]
async fn a_run_whose_chain_of_forks_does_not_end_does_not_go_back_by_a_part_of_its_turns() {
    let world = World::new();
    worked(&world).await;
    let found = world.store.document("run/r1/head").await.unwrap().unwrap();
    let mut head: serde_json::Value = serde_json::from_str(&found.text).unwrap();
    head["forked"] = serde_json::json!({"run": "r1", "turn": 3});
    let (key, expects) = (found.key, Some(found.version));
    let documents = vec![DocumentWrite { key, expects, text: Some(head.to_string()) }];
    let damage = Transaction { documents, ..Transaction::default() };
    world.store.commit(damage, jiff::Timestamp::now()).await.unwrap();
    let error = world.rewind("r1", 1).await.unwrap_err().to_string();
    assert!(error.contains("was forked more than 10000 times"), "{error}");
    assert_eq!(texts(&world), ["three", "one", "three"]);
}

#[tokio::test]
async fn a_run_that_works_or_waits_or_has_no_such_turn_is_refused() {
    let world = World::new();
    worked(&world).await;
    for (run, turn, words) in [
        ("r0", 1, "has no run `r0`"),
        ("r1", 0, "has no turn after turn 0, found 4 turns"),
        ("r1", 4, "has no turn after turn 4, found 4 turns"),
    ] {
        let error = world.rewind(run, turn).await.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let taken =
        world.runs().rewind("r1", 1, Some("r1"), &world.files, jiff::Timestamp::now()).await;
    assert!(matches!(taken, Err(RunError::Exists { .. })), "{taken:?}");
    assert_eq!(texts(&world), ["three", "one", "three"]);

    // Driven by a process whose model does not answer.
    let model = ScriptedModel::new().answers(writes([("a", "x")])).answers(writes([("a", "y")]));
    let agents = world.agents(model.hangs());
    let new = NewRun::new("r3", "clerk", "write");
    let driven = tokio::spawn(async move { agents.start(new).await });
    while world.files.text("a") != "y" || world.head("r3").await.phase != Phase::Asking {
        tokio::task::yield_now().await;
    }
    let error = world.rewind("r3", 1).await.unwrap_err();
    assert!(matches!(error, RunError::Driven { .. }), "{error}");
    assert_eq!(world.files.text("a"), "y");
    driven.abort();
}
