//! `context_search` finds parts of entries by their words.
//!
//! # What it does
//! It answers with the best parts, each with path, line and the words around the match.
//!
//! # What it may touch
//! It reads the entries below `path`, or all of them.
//!
//! # What it refuses
//! A query without a word.

use toolwright::{Output, ToolError, tool};

use super::marked::mark_value;
use super::path::LogicalPath;
use super::store::ContextStore;

/// Search stored texts for words; the best matches come first. Words in double quotes have to stand one after the other.
#[tool(unlinked, group = "context", danger = safe, effect = read, reads(LogicalPath = path), blocking)]
pub fn context_search(
    store: &ContextStore,
    /// The words to look for.
    #[arg(length = 1..=1000, example = "quarterly revenue", positional)]
    query: String,
    /// Search below this path only.
    path: Option<String>,
    /// How many matches to return at the most.
    #[arg(default = 10, minimum = 1, maximum = 100)]
    limit: u32,
) -> Result<Output, ToolError> {
    let found = store.search(&query, path.as_deref(), limit)?;
    let sources = found.iter().filter_map(|it| it.untrusted.as_deref());
    mark_value(&found, sources)
}
