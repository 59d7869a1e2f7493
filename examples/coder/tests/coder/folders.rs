//! Where a command line of a recorded run runs: where it was asked for, after a restart too, or nowhere.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use tempfile::TempDir;
use toolwright::approval::{ApprovalService, ApproverKey};
use toolwright::journal::{CallRecord, Filter, Page, SqliteStore, State, Store as _, StoredText};
use toolwright_agent::testing::Replay;

use crate::provider::{call, serve, text};
use crate::{Ran, coder, run};

/// A folder with `build` and `sub/build`, its journal beside it, a model that goes into `sub` and removes `build`, and a person
/// whose key counts.
struct Scene {
    runtime: tokio::runtime::Runtime,
    around: TempDir,
    model: Replay,
    ada: ApproverKey,
}

impl Scene {
    fn new() -> Self {
        let around = tempfile::tempdir().unwrap();
        for name in ["work/build", "work/sub/build"] {
            fs::create_dir_all(around.path().join(name)).unwrap();
            fs::write(around.path().join(name).join("made"), "").unwrap();
        }
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let bash = |line: &str| call("bash", json!({ "command": line }));
        let said =
            vec![bash("cd sub"), bash("rm -rf build; pwd"), bash("pwd"), text("It is removed.")];
        let model = runtime.block_on(serve(said));
        Self { runtime, around, model, ada: ApproverKey::generate("ada").unwrap() }
    }

    /// A process of its own each time.
    fn coder(&self, words: &[&str]) -> Ran {
        let mut command = coder(words);
        command.arg("--trust").arg(format!("ada={}", self.ada.public()));
        command.current_dir(self.around.path()).env("ANTHROPIC_API_KEY", "hunter2");
        run(command)
    }

    fn start(&self) -> Ran {
        let (url, shell) = (self.model.url(), "--shell");
        self.coder(&[
            "run",
            "clean up",
            "--base-url",
            &url,
            "--folder",
            "work",
            shell,
            "--run",
            "r1",
        ])
    }

    /// The line that waits for a person, approved by one.
    fn approve(&self) -> CallRecord {
        self.runtime.block_on(async {
            let journal = self.around.path().join("calls.db");
            let store = SqliteStore::open(journal).await.unwrap();
            let records = store.list(&Filter::default(), Page::first(100)).await.unwrap();
            let waiting = records.calls.into_iter().find(|it| it.state == State::Pending).unwrap();
            let service = ApprovalService::new(Arc::new(store));
            service.approve(waiting.id, &self.ada).await.unwrap();
            waiting
        })
    }

    fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.around.path().join("work").join(name)
    }
}

#[test]
fn a_line_that_is_approved_runs_after_a_restart_in_the_folder_that_it_was_asked_for() {
    let scene = Scene::new();
    let first = scene.start();
    assert_eq!(first.code, 3, "{}{}", first.out, first.err);
    let waiting = scene.approve();
    assert_eq!(waiting.arguments, StoredText::Plain(waiting.shown.clone()));
    assert!(waiting.shown.contains(r#""folder":"sub""#), "{}", waiting.shown);
    assert!(scene.has("build") && scene.has("sub/build"), "it ran before it was approved");

    let second = scene.coder(&["resume", "r1"]);
    assert_eq!(second.code, 0, "{}{}", second.out, second.err);
    assert!(scene.has("build") && !scene.has("sub/build"), "another folder was removed");
    // The run is where it was, and the model is shown no path of the machine.
    let printed = second.err.matches("    sub\n").count();
    assert_eq!(printed, 2, "{}", second.err);
    let absolute = scene.around.path().to_str().unwrap();
    let answers = second.err.lines().filter(|it| it.starts_with("    "));
    assert!(!answers.collect::<String>().contains(absolute), "{}", second.err);
}

#[test]
fn a_line_whose_folder_is_another_after_the_restart_does_not_run() {
    let scene = Scene::new();
    assert_eq!(scene.start().code, 3);
    scene.approve();
    let moved = scene.around.path().join("moved");
    fs::rename(scene.path("sub"), &moved).unwrap();
    symlink(Path::new("."), scene.path("sub")).unwrap();
    let second = scene.coder(&["resume", "r1"]);
    assert_eq!(second.code, 0, "{}{}", second.out, second.err);
    assert!(second.err.contains("its folder `sub` is reached by a link"), "{}", second.err);
    assert!(scene.has("build") && moved.join("build").exists(), "it ran elsewhere");
}

#[test]
fn a_key_that_is_none_and_a_key_for_a_run_that_is_not_recorded_are_refused() {
    let ran = |words: &[&str]| run(coder(words));
    let wrong = ran(&["run", "do it", "--run", "r1", "--trust", "ada"]);
    assert_eq!(wrong.code, 2, "{}", wrong.err);
    assert!(wrong.err.contains("found `--trust ada`, expected NAME=KEY"), "{}", wrong.err);
    let key = ApproverKey::generate("ada").unwrap().public();
    let alone = ran(&["run", "do it", "--trust", &format!("ada={key}")]);
    assert_eq!(alone.code, 2, "{}", alone.err);
    assert!(alone.err.contains("add `--journal` or `--run`"), "{}", alone.err);
}
