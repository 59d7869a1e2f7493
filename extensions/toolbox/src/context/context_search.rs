//! `context_search` finds parts of entries by their words, and by their meaning if the store has an embedding model.
//!
//! # What it does
//! It answers with the best parts, each with path, line and the words around the match. If the embedding model
//! fails, it searches by words alone, and says so after the matches.
//!
//! # What it may touch
//! It reads the entries below `path`, or all of them, and sends the query and parts without vectors to the embedding model.
//!
//! # What it refuses
//! A query without a word.

use toolwright::{Content, Output, ToolError, tool};

use super::marked::mark_value;
use super::path::LogicalPath;
use super::store::ContextStore;

/// Search stored texts for words; the best matches come first. Words in double quotes have to stand one after the other.
#[tool(unlinked, group = "context", danger = safe, effect = read, reads(LogicalPath = LogicalPath::folder(path.as_deref())))]
pub async fn context_search(
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
    let found = store.find(&query, path.as_deref(), limit).await?;
    let sources = found.parts.iter().filter_map(|it| it.untrusted.as_deref());
    let output = mark_value(&found.parts, sources)?;
    Ok(match found.problem {
        None => output,
        Some(problem) => output.with(Content::text(problem)),
    })
}
