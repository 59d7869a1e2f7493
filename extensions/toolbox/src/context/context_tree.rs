//! `context_tree` lists entries.
//!
//! # What it does
//! It answers with the entries and folders below a path, down to a given depth, with their sizes.
//!
//! # What it may touch
//! It reads the paths and sizes of the entries below `path`, or of all entries.
//!
//! # What it refuses
//! Invalid paths. Below a path without entries, the list is empty.

use toolwright::{ToolError, tool};

use super::path::LogicalPath;
use super::store::ContextStore;
use super::tree::ContextItem;

/// What is listed.
#[toolwright::data]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextTree {
    /// Entries and folders in the order of their paths.
    pub items: Vec<ContextItem>,
    /// How many more items there are than `limit`.
    pub left_out: usize,
}

/// List the stored texts below a path, with their sizes.
#[tool(unlinked, group = "context", danger = safe, effect = read, reads(LogicalPath = LogicalPath::folder(path.as_deref())), blocking)]
pub fn context_tree(
    store: &ContextStore,
    /// List below this path; everything when absent.
    #[arg(positional)]
    path: Option<String>,
    /// How many levels of folders to go down.
    #[arg(default = 2, minimum = 1, maximum = 64)]
    max_depth: usize,
    /// How many items to return at the most.
    #[arg(default = 200, minimum = 1, maximum = 10_000)]
    limit: usize,
) -> Result<ContextTree, ToolError> {
    let mut items = store.tree(path.as_deref(), max_depth)?;
    let left_out = items.len().saturating_sub(limit);
    items.truncate(limit);
    Ok(ContextTree { items, left_out })
}
