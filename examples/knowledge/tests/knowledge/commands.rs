//! The commands that a person types.

use std::process::{Command, Output};

use crate::support::Shelf;

fn run(shelf: &Shelf, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_knowledge"));
    command.args(words).current_dir(shelf.folder.path()).output().unwrap()
}

fn printed(shelf: &Shelf, words: &[&str]) -> String {
    let output = run(shelf, words);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_note_is_written_listed_and_found_by_commands() {
    let shelf = Shelf::new();
    printed(&shelf, &["membot", "write", "notes/q3.md", "Quarterly revenue rose.\n"]);
    let tree = printed(&shelf, &["membot", "tree", "notes", "--max-depth", "3"]);
    assert!(tree.contains("\"path\":\"notes/q3.md\""), "{tree}");
    let found = printed(&shelf, &["membot", "search", "quarterly revenue"]);
    assert!(found.contains("Quarterly revenue rose."), "{found}");
    let taken = run(&shelf, &["membot", "write", "notes/q3.md", "other"]);
    assert_eq!(taken.status.code(), Some(1), "{taken:?}");
}

/// S0.77
#[test]
fn capabilities_are_written_by_a_command_of_one_word() {
    let shelf = Shelf::new();
    let printed = printed(&shelf, &["capabilities"]);
    assert!(printed.contains("prompts/capabilities.md"), "{printed}");
    assert!(shelf.path("prompts/capabilities.md").exists());
}

#[test]
fn without_a_model_it_shows_what_it_does() {
    let shelf = Shelf::new();
    let shown = printed(&shelf, &["--offline"]);
    assert!(shown.contains("the task is what it was, byte for byte"), "{shown}");
}
