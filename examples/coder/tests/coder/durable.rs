//! Runs that are recorded: killed, and taken up by another process.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::{coder, run};

/// Starts a command and kills it when a line of its transcript begins so; gives the transcript up to there.
fn killed_at(folder: &TempDir, words: &[&str], begin: &str) -> String {
    let mut command = coder(words);
    command.current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut transcript = String::new();
    loop {
        let from = transcript.len();
        assert!(lines.read_line(&mut transcript).unwrap() > 0, "no `{begin}` in\n{transcript}");
        if transcript[from..].starts_with(begin) {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    lines.read_to_string(&mut transcript).unwrap();
    transcript
}

/// The folder that a transcript names.
fn folder_of(transcript: &str) -> String {
    let line = transcript.lines().find_map(|line| line.strip_prefix("folder: ")).unwrap();
    line.split(" (").next().unwrap().to_owned()
}

#[test]
fn a_run_that_is_killed_twice_goes_on_in_other_processes_and_asks_nothing_again() {
    let here = tempfile::tempdir().unwrap();
    let start = [
        "run",
        "make the tests pass",
        "--offline",
        "--keep",
        "--journal",
        "calls.db",
        "--run",
        "r1",
    ];
    let first = killed_at(&here, &start, "[2] call");
    // The edit is on its way: it has happened or not, and happens once.
    let second = killed_at(&here, &["resume", "r1"], "[4] call");
    assert!(!second.contains("[1] "), "the first turn was made again:\n{second}");
    let mut command = coder(&["resume", "r1", "--journal", "calls.db"]);
    command.current_dir(here.path());
    let last = run(command);
    // The recorded model is asked for exactly what it was asked for without kills, or the run fails.
    assert_eq!(last.code, 0, "{}{}", last.out, last.err);
    let end = last.end();
    assert_eq!(
        (end["ended"].as_str(), end["turns"].as_u64()),
        (Some("terminal"), Some(6)),
        "{end}"
    );
    assert!(!last.err.contains("[3] "), "an earlier turn was made again:\n{}", last.err);
    let folder = folder_of(&first);
    let source = fs::read_to_string(Path::new(&folder).join("src/lib.rs")).unwrap();
    assert!(source.contains("_ => return Err(StrSimError::DifferentLengthArgs),"));
    fs::remove_dir_all(folder).unwrap();

    let mut again = coder(&["resume", "r1"]);
    again.current_dir(here.path());
    let again = run(again);
    assert_eq!(again.code, 2, "{}", again.err);
    assert!(again.err.contains("run `r1` has ended (terminal)"), "{}", again.err);
}

/// Starts a command and interrupts it when a line of its transcript begins so; gives its exit code.
fn interrupted_at(folder: &TempDir, words: &[&str], begin: &str) -> i32 {
    let mut command = coder(words);
    command.current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap());
    let mut found = false;
    for line in lines.lines() {
        if !found && line.unwrap().starts_with(begin) {
            found = true;
            let id = child.id().to_string();
            assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        }
    }
    assert!(found, "no `{begin}`");
    child.wait().unwrap().code().unwrap()
}

#[test]
#[cfg(unix)]
fn a_run_that_is_interrupted_is_given_back_at_once_and_no_interrupt_counts_as_a_death() {
    let here = tempfile::tempdir().unwrap();
    let start = ["run", "make the tests pass", "--offline", "--run", "r1"];
    assert_eq!(interrupted_at(&here, &start, "[1] call"), 130);
    for _ in 0..3 {
        assert_eq!(interrupted_at(&here, &["resume", "r1"], "["), 130);
    }
    let mut command = coder(&["resume", "r1"]);
    command.current_dir(here.path());
    let last = run(command);
    assert_eq!(last.code, 0, "{}{}", last.out, last.err);
}

#[test]
fn what_cannot_be_taken_up_is_refused_in_words() {
    let here = tempfile::tempdir().unwrap();
    let ran = |words: &[&str]| {
        let mut command = coder(words);
        command.current_dir(here.path());
        run(command)
    };
    let none = ran(&["resume", "r1"]);
    assert_eq!(none.code, 2, "{}", none.err);
    assert!(none.err.contains("found no journal `calls.db`"), "{}", none.err);
    assert!(!here.path().join("calls.db").exists(), "a journal was made");
    let both = ran(&["run", "do it", "--offline", "--run", "r1", "--fallback"]);
    assert_eq!(both.code, 2, "{}", both.err);
    assert!(both.err.contains("leave `--fallback`"), "{}", both.err);
}
