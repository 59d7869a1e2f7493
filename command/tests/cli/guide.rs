//! Every command of the operators' guide, run in its order; what it prints is what the guide says.

use std::process::Command;

use super::journal::Journal;
use super::ran;

const GUIDE: &str = include_str!("../../../docs/operating.md");

#[test]
fn the_guide_prints_what_it_says() {
    let journal = Journal::with_dead_letters();
    let home = journal.path("home");
    std::fs::create_dir(&home).unwrap();
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_toolwright")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut commands = 0;
    for block in GUIDE.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for step in block.split("$ ").skip(1) {
            let (line, expected) = step.split_once('\n').unwrap();
            let mut command = Command::new("sh");
            command.args(["-c", &format!("exec 2>&1; {line}")]).current_dir(journal.path(""));
            command.env("PATH", &path).env("HOME", &home).env_remove("XDG_CONFIG_HOME");
            command.env("TOOLWRIGHT_JOURNAL", "sqlite:calls.db").env_remove("TOOLWRIGHT_KEY");
            if !line.starts_with("toolwright keys new") {
                command.env("TOOLWRIGHT_KEY", "ada.key");
            }
            let raw = ran(&mut command, b"").out;
            let printed = steady(&journal.filtered(&raw).replace("DIR/home", "/home/ada"));
            assert_eq!(printed, steady(&journal.filtered(expected)), "{line}");
            commands += 1;
        }
    }
    assert!(commands > 10, "{commands}");
}

/// Without what a new key makes new.
fn steady(text: &str) -> String {
    let words = text.split_inclusive([' ', '\n', '"']).map(|word| {
        let digits = word.trim_end_matches([' ', '\n', '"']).strip_prefix("ed25519:");
        digits.map_or_else(|| word.to_owned(), |digits| word.replace(digits, "PUBLIC"))
    });
    words.collect()
}
