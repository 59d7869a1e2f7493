//! The coder as a person and a script see it: the transcript on standard error, the end on standard output, an exit code.
#![cfg(test)]

mod agents;
mod command_line;
#[cfg(unix)]
mod durable;
mod faults;
#[cfg(unix)]
mod folders;
mod mcp;
mod media;
mod offline;
#[cfg(unix)]
mod outage;
mod provider;
mod report;
#[cfg(unix)]
mod rewind;
mod shell;
#[cfg(unix)]
mod signals;
mod undo;
mod window;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// What a run left behind.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    /// The object on standard output, which is one line.
    fn end(&self) -> Value {
        let lines: Vec<&str> = self.out.lines().collect();
        let [line] = lines[..] else { panic!("{} lines\n{}{}", lines.len(), self.out, self.err) };
        serde_json::from_str(line).unwrap()
    }
}

/// Without a terminal, and without the keys of the user who runs the tests.
fn coder(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coder"));
    command.args(words).stdin(Stdio::null());
    command.env_remove("ANTHROPIC_API_KEY").env_remove("OPENAI_API_KEY");
    // The logs of what is changed.
    command.env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}

fn run(mut command: Command) -> Ran {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

/// A folder with a file, for the time of one test.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.md"), "buy tea\n").unwrap();
    folder
}

fn own(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
