//! What the macros say. Each case in `cases/` makes one mistake and has the message that answers it beside it; each in
//! `pass/` is legal, however odd, and must compile without a warning and run.
#![cfg(test)]
// Rustc takes this lint for a whole crate alone; the others stand in `pass/strict_lints.rs`.
#![deny(non_ascii_idents)]

use std::fs;
use std::path::Path;

/// After a deliberate change of words: `TRYBUILD=overwrite cargo test -p ui-tests`, then read them.
#[test]
fn every_mistake_is_answered_at_its_own_token() {
    trybuild::TestCases::new().compile_fail("cases/**/*.rs");
}

mod pass;

/// Lines that rustc writes of what a derive of serde expands to: it prints the path by which the derive was named, and that of a function that
/// serde hides. It only falls.
const PRIVATE_PATHS: usize = 3;

/// A newcomer who reads a private path looks for it in the docs, where it is not. Traits are shown by their names alone where
/// `toolwright::bounds` lists them.
#[test]
fn no_message_names_the_private_module() {
    let (mut folders, mut found) =
        (vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "stderr") {
                let text = fs::read_to_string(&path).unwrap();
                let lines = text.lines().filter(|line| line.contains("__private0"));
                found.extend(lines.map(|line| format!("{}: {}", path.display(), line.trim())));
            }
        }
    }
    found.sort();
    assert_eq!(found.len(), PRIVATE_PATHS, "a private path in a message:\n{}", found.join("\n"));
}
