//! `undo_file` takes the last change of a file back.
//!
//! # What it does
//! It restores what stood there before the newest change that the log has of the file: content and mode, or that there was no
//! such file. Folders that the change removed are made again, and folders that it made are removed where they are empty.
//! Called again, it takes the change before that back. With `change` it takes that one back; where that one is an undo, what
//! was undone is done again. The undo is a change of its own in the log.
//!
//! # What it may touch
//! It writes the file that `path` names, and the folders above it.
//!
//! # What it refuses
//! A file that is not what the change left: the answer names the later change; a change that was undone already, or whose
//! call still runs; a content that is not in the log, because it had more than 32 MiB or its change is older than the log's
//! limits; and paths that lead out of the workspace.

use toolwright::{ToolContext, ToolError, tool};

use super::log::ChangeLog;
use super::plan::WantedChanges;
use super::record::CallFacts;
use super::tool::milliseconds;

/// Take the last change of a file back: it gets the content and mode that it had before, or is removed where it did not
/// exist. Call it again to go back further. It fails where something else changed the file since.
#[tool(unlinked, group = "file", danger = moderate, effect = once, writes(file = path), blocking)]
pub fn undo_file(
    log: &ChangeLog,
    context: &ToolContext,
    /// Path relative to the workspace.
    #[arg(alias = "file_path", example = "src/lib.rs", positional)]
    path: String,
    /// The number of one change, from `file_history`, also of an undo; the newest change in effect when absent.
    #[arg(minimum = 1)]
    change: Option<i64>,
) -> Result<String, ToolError> {
    let name = log.find_changed_name(&path, change)?;
    let wanted = change.map_or(WantedChanges::Newest, WantedChanges::Change);
    Ok(log.undo(&CallFacts::of(context), &name, wanted, milliseconds())?.words)
}
