//! `file_history` lists what calls changed in files.
//!
//! # What it does
//! It lists changes of a file, or of every file, newest first: number, time, tool, what the change did to the file, turn, run
//! and call, and by which change it was undone. Calls that may have written files without naming them, such as programs, are
//! listed among them: they cannot be undone.
//!
//! # What it may touch
//! It reads the log. It reads files of the workspace only to complete the changes of interrupted calls.
//!
//! # What it refuses
//! Paths that lead out of the workspace.

use toolwright::{ToolContext, ToolError, tool};

use super::history::Entry;
use super::log::ChangeLog;
use crate::workspace::Name;

/// List what calls changed in files, from the newest change: its number, time, tool and turn, and whether it was undone.
/// Programs that may have changed files are listed too.
#[tool(unlinked, group = "file", danger = safe, effect = read, reads(), blocking)]
pub fn file_history(
    log: &ChangeLog,
    context: &ToolContext,
    /// Path relative to the workspace; every file when absent.
    #[arg(alias = "file_path", positional)]
    path: Option<String>,
    /// How many entries to return.
    #[arg(default = 20, minimum = 1, maximum = 1000)]
    limit: u32,
) -> Result<String, ToolError> {
    let name = path.as_deref().map(Name::parse).transpose()?;
    let entries = log.history(name.as_ref(), limit, context.call_id())?;
    if entries.is_empty() {
        return Ok("no change is in the log".to_owned());
    }
    let lines: Vec<String> = entries.iter().map(Entry::to_string).collect();
    Ok(lines.join("\n"))
}
