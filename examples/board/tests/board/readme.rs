//! The commands of the README, typed one after another, print what it shows.

use std::path::Path;
use std::process::Command;

use crate::support::executables;

const README: &str = include_str!("../../README.md");

/// The commands of the blocks `console`, each with what it prints.
fn commands() -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let blocks = README.split("```").skip(1).step_by(2);
    for line in blocks.filter_map(|it| it.strip_prefix("console\n")).flat_map(str::lines) {
        match line.strip_prefix("$ ") {
            Some(command) => found.push((command.to_owned(), String::new())),
            None => {
                let printed = &mut found.last_mut().expect("a command comes first").1;
                printed.push_str(line);
                printed.push('\n');
            }
        }
    }
    found
}

/// Times and the numbers of processes are those of the day.
fn comparable(text: &str) -> String {
    let words = text.trim_end().split(' ').map(|word| {
        let (first, rest) = word.split_once('\n').unwrap_or((word, ""));
        let is_time = first.len() > 19 && first.as_bytes()[10] == b'T';
        let first = match is_time {
            true if first.ends_with(',') => "TIME,",
            true => "TIME",
            false if first.starts_with("runner-") => "runner-N:",
            false => first,
        };
        if rest.is_empty() && !word.contains('\n') {
            first.to_owned()
        } else {
            format!("{first}\n{rest}")
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn typed(command: &str, folder: &Path) -> String {
    let path = format!("{}:{}", executables().display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).env("PATH", path).env("USER", "ada");
    let output = shell.env_remove("CARGO_TARGET_DIR").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// `S4.73`: the model calls, the executor finds and runs the tool, the answer goes back to the model: one ticket is done, one asks,
/// and one that fails its criterion stays where it is.
#[test]
fn the_walk_through_one_ticket_prints_what_the_readme_shows() {
    let folder = tempfile::tempdir().unwrap();
    let commands = commands();
    assert!(commands.len() > 5);
    for (command, expected) in commands {
        assert_eq!(comparable(&typed(&command, folder.path())), comparable(&expected), "{command}");
    }
}
