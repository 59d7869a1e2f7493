//! `undo_file` undoes the newest change of a file.
//!
//! # What it does
//! It restores the content and mode that the file had before the newest change in the log, or removes the file if it did not
//! exist. Folders that the change removed are created again, and folders that it created are removed if they are empty. Called
//! again, it undoes the change before that. With `change` it undoes that change; if that is itself an undo, the undone change
//! is made again. The undo is a change of its own in the log.
//!
//! # What it may touch
//! It writes the file that `path` names, and the folders above it.
//!
//! # What it refuses
//! A file that is no longer as the change left it, with the later change; a change that is already undone, or whose call still
//! runs; a content that is not in the log, because it had more than 32 MiB or its change is older than the log's limits; and
//! paths that lead out of the workspace.

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
