//! `patch_lines` replaces lines of a file by their numbers.
//!
//! # What it does
//! It replaces, inserts and deletes lines, all by their numbers before the call, as `read_file` shows them. Line ends, a last
//! line without one, and the encoding are preserved. It answers with the number of lines, a short diff and the hash of the new
//! content.
//!
//! # What it may touch
//! It reads and writes the file that `path` names.
//!
//! # What it refuses
//! - Lines that do not exist, ranges that overlap, an end before its start, and an empty insertion. One error lists all
//!   these problems, with the number of lines.
//! - A file whose content has another hash than `expected_hash`, or that another process changes meanwhile.
//! - Everything that `read_file` and `write_file` refuse.

use toolwright::{Reconciled, ToolError, tool};

use super::edit::{Edit, of_file};
use super::line_patch::{LinePatch, patched_lines};
use super::notes::count;
use crate::Workspace;
use crate::workspace::content_hash;

/// Replace, insert or delete lines of a file by their numbers, which `read_file` shows. All numbers are those of the file
/// before the call, so that one patch does not move the lines of another.
#[tool(
    unlinked,
    group = "file",
    danger = moderate,
    effect = once,
    reads(file = path),
    writes(file = path),
    blocking,
    preview = |workspace, path, patches, expected_hash| -> Result<String, ToolError> {
        let edit = Edit::open(workspace, &path, expected_hash.as_deref())?;
        Ok(edit.preview(&patch(&edit, &patches)?))
    },
    reconcile = |workspace, path, expected_hash| -> Result<Reconciled, ToolError> {
        let bytes = workspace.read(&path)?;
        Ok(match expected_hash {
            // The file still has the hash from before the call.
            Some(expected) if content_hash(&bytes) == expected => Reconciled::DidNotHappen,
            _ => Reconciled::Unknown,
        })
    }
)]
pub fn patch_lines(
    workspace: &Workspace,
    /// Path relative to the workspace.
    #[arg(alias = "file_path", example = "src/lib.rs", positional)]
    path: String,
    /// What to replace, in any order.
    #[arg(length = 1..=1000)]
    patches: Vec<LinePatch>,
    /// The hash that `read_file` showed: a file that was changed since is not edited.
    expected_hash: Option<String>,
) -> Result<String, ToolError> {
    let edit = Edit::open(workspace, &path, expected_hash.as_deref())?;
    let text = patch(&edit, &patches)?;
    let (patches, lines) = (patches.len(), text.lines().count());
    let done = format!(
        "applied {} to `{}`, which now has {}",
        count(patches, "patch", "patches"),
        edit.name,
        count(lines, "line", "lines")
    );
    edit.write(workspace, &text, &done)
}

/// Returns the text after the patches, or one error with all problems.
fn patch(edit: &Edit, patches: &[LinePatch]) -> Result<String, ToolError> {
    patched_lines(&edit.now.text, patches).map_err(|error| of_file(&edit.name, error))
}
