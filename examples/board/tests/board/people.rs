//! The commands of people, as they type them.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::support::repository;

fn board(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_board"));
    command.arg("--folder").arg(folder.join("board")).args(arguments).env("USER", "ada");
    command.output().unwrap()
}

fn says(folder: &Path, arguments: &[&str]) -> String {
    let output = board(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

fn refuses(folder: &Path, arguments: &[&str]) -> String {
    let output = board(folder, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap().trim_end().to_owned()
}

fn with_project() -> TempDir {
    let folder = TempDir::new().unwrap();
    let place = folder.path().join("tea");
    std::fs::create_dir(&place).unwrap();
    repository(&place, &[("Cargo.toml", "[package]\nname = \"tea\"\n"), ("src/lib.rs", "")]);
    says(folder.path(), &["init", place.to_str().unwrap(), "--name", "tea"]);
    folder
}

#[test]
fn a_person_writes_a_ticket_answers_decides_and_moves_it_to_every_column() {
    let around = with_project();
    let folder = around.path();
    let new = [
        "new",
        "Hot tea",
        "--type",
        "BUG",
        "--criterion",
        "tests: It is hot",
        "--criterion",
        "person: It tastes",
    ];
    assert_eq!(says(folder, &new), "ticket 1 is in BACKLOG");
    assert_eq!(
        says(folder, &["move", "1", "RESEARCH", "--reason", "now"]),
        "ticket 1 is moved from BACKLOG to RESEARCH"
    );
    assert_eq!(says(folder, &["comment", "1", "As hot as it gets."]), "comment 1");
    assert_eq!(
        says(folder, &["comment", "1", "Or not.", "--answer", "1", "--by", "grace"]),
        "comment 2"
    );
    assert_eq!(
        says(folder, &["comment", "1", "--resolve", "2"]),
        "the thread of comment 2 is resolved"
    );
    assert_eq!(
        says(
            folder,
            &["criteria", "1", "--met", "2", "--add", "file docs/tea.md: It is described"]
        ),
        "[ ] 1 It is hot (tests)\n[x] 2 It tastes (person) — ada says so\n[ ] 3 It is described (file docs/tea.md)"
    );
    for state in ["IN_PROGRESS", "VERIFICATION", "IN_PROGRESS", "DONE"] {
        says(folder, &["move", "1", state, "--reason", "so"]);
    }
    assert_eq!(
        says(folder, &["list"]),
        "BACKLOG (0)\nRESEARCH (0)\nIN_PROGRESS (0)\nVERIFICATION (0)\nDONE (1)\n     1  BUG                Hot tea"
    );
    let shown = says(folder, &["show", "1"]);
    assert!(shown.starts_with("BUG 1: Hot tea\nDONE, profile developer\n"), "{shown}");
    assert!(shown.contains("\nfeedback 2 answers 1 of grace, "), "{shown}");
    assert!(shown.contains("\nVERIFICATION → IN_PROGRESS by ada: so\n"), "{shown}");
}

#[test]
fn what_was_written_acts_on_no_terminal() {
    let around = with_project();
    let folder = around.path();
    says(folder, &["new", "Hot\u{1b}[2J tea"]);
    says(folder, &["comment", "1", "<script>alert(1)</script>\u{1b}]0;mine\u{7}\nsecond line"]);
    for shown in [says(folder, &["list"]), says(folder, &["show", "1"])] {
        assert!(!shown.contains(['\u{1b}', '\u{7}']), "{shown:?}");
        assert!(shown.contains("Hot\\u{1b}[2J tea"), "{shown}");
    }
    assert!(says(folder, &["show", "1"]).contains("\n    second line"));
}

#[test]
fn what_a_person_types_wrongly_is_refused_with_what_was_expected_and_writes_nothing() {
    let around = with_project();
    let folder = around.path();
    says(folder, &["new", "Hot tea", "--criterion", "tests: It is hot"]);
    for (typed, words) in [
        (
            &["move", "1", "DONNE", "--reason", "a"][..],
            "error: `state`: found `DONNE`, expected one of `BACKLOG`, `RESEARCH`",
        ),
        (
            &["move", "1", "BACKLOG", "--reason", "a"],
            "error: Invalid transition: BACKLOG → BACKLOG",
        ),
        (&["move", "7", "DONE", "--reason", "a"], "error: there is no ticket 7; see `board list`"),
        (
            &["new", "Tea", "--criterion", "test: a"],
            "error: found `test: a`, expected `tests: TEXT`",
        ),
        (&["new", "Tea", "--criterion", "tests:"], "error: found no text in `tests:`"),
        (
            &["criteria", "1", "--met", "1"],
            "error: criterion 1 is shown by `tests`, which `bonsai-criteria check` finds out",
        ),
        (&["criteria", "1", "--remove", "9"], "error: there is no criterion 9 on ticket 1"),
        (&["comment", "1", " "], "error: a comment has 1 characters, expected 1 to 20000"),
        (&["comment", "1", "a", "--answer", "9"], "error: there is no comment 9 on ticket 1"),
    ] {
        let error = refuses(folder, typed);
        assert!(error.starts_with(words), "{typed:?}: {error}");
    }
    assert_eq!(says(folder, &["list"]).lines().count(), 6);
    let elsewhere = TempDir::new().unwrap();
    assert!(refuses(elsewhere.path(), &["list"]).contains("make one with `board init`"));
}

#[test]
fn a_runner_without_a_model_does_not_begin_and_touches_no_ticket() {
    let around = with_project();
    let folder = around.path();
    says(folder, &["new", "Hot tea", "--research"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_board"));
    command.arg("--folder").arg(folder.join("board")).args(["run", "--model", "anthropic:claude"]);
    let output = command.env_remove("ANTHROPIC_API_KEY").output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(error.contains("ANTHROPIC_API_KEY"), "{error}");
    assert!(!says(folder, &["show", "1"]).contains("slice of"));
}
