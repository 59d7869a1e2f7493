//! Runs that are recorded: killed, and taken up by another process.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use toolwright::journal::{SqliteStore, State};
use toolwright_agent::Message;
use toolwright_agent::durable::{Head, Runs, WaitingCall};

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
    // A read is on its way, which may be done again. An edit that is cut off may be left to a person: `killed_at_random`.
    let second = killed_at(&here, &["resume", "r1"], "[3] call");
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
    assert!(!last.err.contains("[2] "), "an earlier turn was made again:\n{}", last.err);
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

/// Starts a command and kills it when so many lines of its turns have come, and a moment later; nothing where it has ended before.
fn killed_after(folder: &TempDir, words: &[&str], turns: usize, moment: Duration) -> bool {
    let mut command = coder(words);
    command.current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    // A command that is killed leaves its outcome to a person: the moments are seldom in the middle of one.
    let is_calm = |line: &String| {
        line.contains("] answer") || (line.contains("] call") && !line.contains("run_command"))
    };
    let mut of_turns = lines.map_while(Result::ok).filter(is_calm);
    let is_there = of_turns.by_ref().take(turns).count() == turns;
    if is_there {
        std::thread::sleep(moment);
        child.kill().unwrap();
    }
    child.wait().unwrap().code().is_none()
}

/// The sources of a folder, by their paths.
fn sources(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // What a build leaves has times in it.
        if path.ends_with("target") || path.ends_with("Cargo.lock") {
            continue;
        }
        if path.is_dir() {
            found.extend(
                sources(&path)
                    .into_iter()
                    .map(|(name, bytes)| (Path::new(path.file_name().unwrap()).join(name), bytes)),
            );
        } else {
            found.insert(path.file_name().unwrap().into(), fs::read(&path).unwrap());
        }
    }
    found
}

/// What the model said and called in a run, and whether each call failed.
fn said(journal: &Path, run: &str) -> Vec<String> {
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let runs = Runs::of(Arc::new(SqliteStore::open(journal).await.unwrap()));
        let mut said = Vec::new();
        for number in 1..=runs.head(run).await.unwrap().turn {
            let turn = runs.turn(run, number).await.unwrap();
            let Some(Message::Assistant { text, calls, .. }) = &turn.answer else {
                panic!("{number}")
            };
            said.push(text.clone());
            said.extend(calls.iter().map(|call| format!("{} {}", call.name, call.arguments)));
            if let Some(Message::ToolResults(answers)) = &turn.answers {
                said.extend(answers.iter().map(|(_, answer)| answer.is_error().to_string()));
            }
        }
        said
    })
}

/// `CODER_KILLS` says how often, 4 times unless given; each waits for the lease of the process before.
#[test]
fn a_run_that_is_killed_at_random_moments_ends_as_one_that_is_not() {
    let kills: usize = std::env::var("CODER_KILLS").map_or(4, |kills| kills.parse().unwrap());
    let (calm, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let start = ["run", "make the tests pass", "--offline", "--keep", "--run"];
    let mut command = coder(&[&start[..], &["r1"]].concat());
    command.current_dir(calm.path());
    let expected = run(command);
    assert_eq!(expected.code, 0, "{}", expected.err);
    let expected_folder = folder_of(&expected.err);

    let mut random = fastrand::Rng::with_seed(7);
    let (mut killed, mut runs, mut ended) = (0, 0, 0);
    while killed < kills || ended == 0 {
        runs += 1;
        let id = format!("r{runs}");
        let mut words = [&start[..], &[&*id]].concat();
        let has_ended = loop {
            if killed >= kills {
                break false;
            }
            let moment = Duration::from_millis(random.u64(0..15));
            if !killed_after(&here, &words, random.usize(1..5), moment) {
                break true;
            }
            killed += 1;
            words = vec!["resume", &*id];
        };
        let journal = here.path().join("calls.db");
        if !has_ended {
            let mut command = coder(&words);
            command.current_dir(here.path());
            run(command);
        }
        let (head, folder) = stored(&journal, &id);
        if head.ended.is_none() {
            // A command or an edit that was killed may have done its work: only a person can tell.
            let is_unclear = |call: &WaitingCall| call.state == State::Indeterminate;
            assert!(head.waiting.iter().any(is_unclear), "run {runs}: {:?}", head.phase);
            fs::remove_dir_all(folder).unwrap();
            continue;
        }
        ended += 1;
        assert_eq!(said(&journal, &id), said(&calm.path().join("calls.db"), "r1"), "run {runs}");
        assert_eq!(sources(&folder), sources(Path::new(&expected_folder)), "run {runs}");
        fs::remove_dir_all(folder).unwrap();
    }
    fs::remove_dir_all(expected_folder).unwrap();
    eprintln!("{killed} kills, {runs} runs, {ended} of them to their ends");
}

/// Where a run stands, and the folder that it works in.
fn stored(journal: &Path, run: &str) -> (Head, PathBuf) {
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let runs = Runs::of(Arc::new(SqliteStore::open(journal).await.unwrap()));
        let head = runs.head(run).await.unwrap();
        let info = runs.info(&head).unwrap();
        (head, info.data()["folder"].as_str().unwrap().into())
    })
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
