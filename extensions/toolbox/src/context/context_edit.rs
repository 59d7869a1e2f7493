//! `context_edit` replaces lines of an entry by their numbers.
//!
//! # What it does
//! It replaces, inserts and deletes lines, all by their numbers before the call, and makes a new version.
//!
//! # What it may touch
//! It reads and writes the entry that `path` names.
//!
//! # What it refuses
//! A path without an entry; lines that do not exist and ranges that overlap, all in one error; an entry whose hash
//! differs from `expected_hash`.

use toolwright::{ToolError, tool};

use super::path::LogicalPath;
use super::store::ContextStore;
use crate::files::{LinePatch, patched_lines};

/// What was edited.
#[toolwright::data]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EditedEntry {
    /// The logical path.
    pub path: String,
    /// The number of the new version.
    pub version: u32,
    /// How many patches were applied.
    pub applied: usize,
    /// How many lines the text has now.
    pub lines: usize,
    /// The hash of the text now.
    pub hash: String,
}

/// Replace, insert or delete lines of a stored text by their numbers. All numbers are those of the text before the call, so
/// that one patch does not move the lines of another.
#[tool(unlinked, group = "context", danger = moderate, effect = once, writes(LogicalPath = path), blocking)]
pub fn context_edit(
    store: &ContextStore,
    /// Logical path, such as `notes/today.md`.
    #[arg(example = "notes/today.md", positional)]
    path: String,
    /// What to replace, in any order.
    #[arg(length = 1..=1000)]
    patches: Vec<LinePatch>,
    /// The hash that was read: a text that was changed since is not edited.
    expected_hash: Option<String>,
    /// Why it is edited; versions are listed with it.
    note: Option<String>,
) -> Result<EditedEntry, ToolError> {
    let path = LogicalPath::parse(&path)?;
    let edit = |text: &str| patched_lines(text, &patches);
    let (stored, text) = store.edit(&path, expected_hash.as_deref(), note.as_deref(), edit)?;
    let (applied, lines) = (patches.len(), text.lines().count());
    Ok(EditedEntry {
        path: stored.path,
        version: stored.version,
        applied,
        lines,
        hash: stored.hash,
    })
}
