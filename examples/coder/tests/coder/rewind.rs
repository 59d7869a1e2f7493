//! A recorded run goes back to an earlier turn, in another process: the conversation and the files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::{Ran, coder, run};

/// A run of the offline crate to its end, recorded in a folder.
struct Scene {
    here: TempDir,
    folder: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let here = tempfile::tempdir().unwrap();
        let mut scene = Self { here, folder: PathBuf::new() };
        let ran = scene.coder(&[
            "run",
            "make the tests pass",
            "--offline",
            "--journal",
            "calls.db",
            "--run",
            "r1",
        ]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        scene.folder = ran.end()["folder"].as_str().unwrap().into();
        assert!(scene.is_mended());
        scene
    }

    fn coder(&self, words: &[&str]) -> Ran {
        let mut command = coder(words);
        command.current_dir(self.here.path());
        run(command)
    }

    fn source(&self) -> PathBuf {
        self.folder.join("src/lib.rs")
    }

    fn is_mended(&self) -> bool {
        let source = fs::read_to_string(self.source()).unwrap();
        source.contains("_ => return Err(StrSimError::DifferentLengthArgs),")
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn tools(stays: &Value) -> Vec<(u64, &str)> {
    let of = |it: &'_ Value| (it["turn"].as_u64().unwrap(), it["tool"].clone());
    let all = stays.as_array().unwrap().iter();
    all.map(|it| (of(it).0, it["tool"].as_str().unwrap())).collect()
}

#[test]
fn a_run_goes_back_with_its_files_lists_what_stays_and_goes_on_from_there() {
    let scene = Scene::new();
    let back = scene.coder(&["rewind", "r1", "--turn", "2", "--journal", "calls.db"]);
    assert_eq!(back.code, 0, "{}", back.err);
    assert!(!scene.is_mended(), "it is broken as it was at the second turn");
    let end = back.end();
    assert_eq!((end["run"].as_str(), end["turn"].as_u64()), (Some("r1-at-2"), Some(2)), "{end}");
    assert_eq!(end["restored"], serde_json::json!(["src/lib.rs"]));
    assert!(tools(&end["stays"]).contains(&(5, "run_command")), "{end}");
    assert!(!tools(&end["stays"]).iter().any(|(_, tool)| *tool == "edit_file"), "{end}");
    assert!(back.err.contains("stays: turn 5, run_command"), "{}", back.err);

    // The recorded model goes on from there, and mends it once more.
    let resumed = scene.coder(&["resume", "r1-at-2"]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    assert!(scene.is_mended());
    assert_eq!(resumed.end()["turns"], 6);
    let late = scene.coder(&["rewind", "r1", "--redo"]);
    assert_eq!(late.code, 2, "{}", late.err);
    assert!(late.err.contains("`r1-at-2` has done something new"), "{}", late.err);
    // The new run goes back past the fork: what the first run did there belongs to it.
    let again = scene.coder(&["rewind", "r1-at-2", "--turn", "1", "--as", "r3"]);
    assert_eq!(again.code, 0, "{}", again.err);
    assert!(!scene.is_mended());
}

#[test]
fn a_rewind_is_taken_back_and_one_over_what_a_person_changed_is_refused() {
    let scene = Scene::new();
    let mended = fs::read_to_string(scene.source()).unwrap();
    fs::write(scene.source(), format!("{mended}// by hand\n")).unwrap();
    let refused = scene.coder(&["rewind", "r1", "--turn", "3"]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(
        refused.err.contains("`src/lib.rs` is not what change 1 by `edit_file` in turn 4 left"),
        "{}",
        refused.err
    );
    assert!(scene.is_mended());
    fs::write(scene.source(), &mended).unwrap();

    assert_eq!(scene.coder(&["rewind", "r1", "--turn", "3"]).code, 0);
    assert!(!scene.is_mended());
    let old = scene.coder(&["rewind", "r1", "--turn", "1"]);
    assert_eq!(old.code, 2, "{}", old.err);
    assert!(old.err.contains("went back to turn 3 as run `r1-at-3`"), "{}", old.err);
    let redone = scene.coder(&["rewind", "r1", "--redo"]);
    assert_eq!(redone.code, 0, "{}", redone.err);
    assert_eq!(redone.end()["restored"], serde_json::json!(["src/lib.rs"]));
    assert_eq!(fs::read_to_string(scene.source()).unwrap(), mended);
}

/// `CODER_KILLS` says how often, 6 times unless given.
#[test]
fn a_rewind_that_is_killed_at_any_moment_is_not_done_or_is_finished_by_the_next() {
    let kills: u64 = std::env::var("CODER_KILLS").map_or(6, |kills| kills.parse().unwrap());
    let scene = Scene::new();
    let mut random = fastrand::Rng::with_seed(11);
    for kill in 0..kills {
        let mut command = coder(&["rewind", "r1", "--turn", "2"]);
        command.current_dir(scene.here.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(random.u64(2..60)));
        let _ = child.kill();
        child.wait().unwrap();
        let again = scene.coder(&["rewind", "r1", "--turn", "2"]);
        let is_done = again.code == 0 || again.err.contains("went back to turn 2");
        assert!(is_done, "kill {kill}: {}", again.err);
        assert!(!scene.is_mended(), "kill {kill}");
        let redone = scene.coder(&["rewind", "r1", "--redo"]);
        assert_eq!(redone.code, 0, "kill {kill}: {}", redone.err);
        assert!(scene.is_mended(), "kill {kill}");
    }
}

#[test]
fn what_cannot_be_rewound_is_refused_in_words() {
    let here = tempfile::tempdir().unwrap();
    let ran = |words: &[&str]| {
        let mut command = coder(words);
        command.current_dir(here.path());
        run(command)
    };
    let none = ran(&["rewind", "r1", "--turn", "1"]);
    assert_eq!(none.code, 2, "{}", none.err);
    assert!(none.err.contains("found no journal `calls.db`"), "{}", none.err);
    assert_eq!(ran(&["rewind", "r1"]).code, 2);
    assert_eq!(ran(&["rewind", "r1", "--turn", "0"]).code, 2);
    assert!(!Path::new(here.path()).join("calls.db").exists());
}
