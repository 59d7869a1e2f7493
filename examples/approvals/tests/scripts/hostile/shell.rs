//! The agent's shell, and a tool that says which file it writes.

use std::path::PathBuf;
use std::process::Command;

use toolwright::{ToolError, tool};

/// Where its commands run.
pub struct Terminal {
    pub folder: PathBuf,
    /// The folder of `toolwright`.
    pub commands: PathBuf,
}

/// Run a command line. `sqlite3 SQL` runs SQL on the journal.
#[tool(name = "shell", handle = SHELL, blocking)]
pub fn shell(
    terminal: &Terminal,
    /// The command line.
    command: String,
) -> Result<String, ToolError> {
    if let Some(sql) = command.strip_prefix("sqlite3 ") {
        let done = rusqlite::Connection::open(terminal.folder.join("calls.db"))
            .and_then(|journal| journal.execute_batch(sql));
        return match done {
            Ok(()) => Ok("(nothing)".to_owned()),
            Err(error) => Err(ToolError::new("sqlite3", error.to_string())),
        };
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", &command])
        .current_dir(&terminal.folder)
        .env("PATH", format!("{}:{path}", terminal.commands.display()))
        .env("TOOLWRIGHT_JOURNAL", "sqlite:calls.db")
        .env_remove("TOOLWRIGHT_KEY")
        .env("XDG_CONFIG_HOME", terminal.folder.join("configuration"))
        .output()?;
    let text = [output.stdout, output.stderr].concat();
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Write a file.
#[tool(name = "save_file", handle = SAVE_FILE, effect = idempotent, writes(file = path), blocking)]
pub fn save_file(
    /// Its name.
    path: String,
    /// What is to stand in it.
    text: String,
) -> Result<(), ToolError> {
    Ok(std::fs::write(path, text)?)
}
