//! What a run changed is taken back by a command, in another process.

use std::fs;
use std::path::Path;

use crate::{Ran, coder, folder, run};

/// A command in a folder, with this folder for the state of programs.
fn in_folder(folder: &Path, state: &Path, words: &[&str]) -> Ran {
    let mut command = coder(words);
    command.current_dir(folder).env("XDG_STATE_HOME", state);
    run(command)
}

#[test]
fn a_turn_of_a_run_is_undone_after_it() {
    let state = tempfile::tempdir().unwrap();
    let new = state.path().join("new.jsonl");
    // A new recording takes whatever the tools say of themselves.
    let words = ["run", "make the tests pass", "--offline", "--keep", "--record"];
    let mut command = coder(&words);
    command.arg(new);
    command.env("XDG_STATE_HOME", state.path());
    let ran = run(command);
    let end = ran.end();
    let folder = Path::new(end["folder"].as_str().unwrap());
    let source = || fs::read_to_string(folder.join("src/lib.rs")).unwrap();
    assert!(source().contains("_ => return Err(StrSimError::DifferentLengthArgs),"));

    let history = in_folder(folder, state.path(), &["file", "history"]);
    assert!(
        history.out.contains("`edit_file` changed `src/lib.rs`  (turn 4, run `coder-"),
        "{}{}",
        history.out,
        history.err
    );
    assert!(history.out.contains("`run_command` may have changed files"), "{}", history.out);
    let undone = in_folder(folder, state.path(), &["file", "undo-turn", "4"]);
    assert_eq!(undone.code, 0, "{}", undone.err);
    assert!(
        undone.out.contains("restored `src/lib.rs`: change 1 by `edit_file` in turn 4 is undone"),
        "{}",
        undone.out
    );
    assert!(source().contains("_ => return Ok(count),"), "it is broken as it was before the turn");
    let again = in_folder(folder, state.path(), &["file", "undo-turn", "4"]);
    assert_eq!(again.code, 1, "{}", again.out);
    assert!(again.err.contains("has no change of turn 4"), "{}", again.err);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_a_command_changed_is_undone_as_well() {
    let (folder, state) = (folder(), tempfile::tempdir().unwrap());
    let path = folder.path();
    fs::create_dir(path.join("src")).unwrap();
    fs::write(path.join("src/lib.rs"), "fn main() {}\n").unwrap();
    let words = ["file", "write", "src/lib.rs", "fn main() {\n"];
    let written = in_folder(path, state.path(), &words);
    assert!(
        written.out.contains("warning: the call succeeded, but `src/lib.rs` has syntax errors"),
        "{}{}",
        written.out,
        written.err
    );
    let undone = in_folder(path, state.path(), &["file", "undo", "src/lib.rs"]);
    assert_eq!(undone.code, 0, "{}", undone.err);
    assert_eq!(fs::read_to_string(path.join("src/lib.rs")).unwrap(), "fn main() {}\n");
    // Nothing of the log is in the folder.
    assert_eq!(fs::read_dir(path).unwrap().count(), 2);
}
