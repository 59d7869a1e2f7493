//! `undo_file` undoes the newest change of a file.
//!
//! # What it does
//! It restores the content and mode that the file had before the newest change in the log, or removes the file if it
//! did not exist. Folders that the change removed are created again. Folders that the change created are removed if
//! they are empty. A second call undoes the change before that. With `change` it undoes the change of that number. If
//! that change is an undo, the changes that it took back are made again. The undo is a change of its own in the log.
//!
//! # What it may touch
//! It writes the file that `path` names, and the folders above it.
//!
//! # What it refuses
//! It refuses to undo:
//! - a change after which the file was changed again; the error names the later change;
//! - a change that is already undone, or whose call still runs;
//! - a change whose earlier content is not in the log, because the file had more than 32 MiB, could not be read or was
//!   no regular file, or because the log's limits removed the content;
//! - a change of a path that leads out of the workspace.

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
    let now = milliseconds();
    let undone = log.undo(&CallFacts::of(context), &name, wanted, now);
    log.prune(now);
    Ok(undone?.words)
}
