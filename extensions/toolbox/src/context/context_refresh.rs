//! `context_refresh` fetches entries again from their sources.
//!
//! # What it does
//! It asks the source of one entry after another, and makes a new version if the text has changed. Other calls can use the
//! store meanwhile. A failure is reported, and the refresh continues.
//!
//! # What it may touch
//! It writes the entries below `path` that have a source, or all of them, and reads from the sources that the
//! application offers. Its footprint declares that it reads any file, because the sources are known only when it runs.
//!
//! # What it refuses
//! It does not overwrite a text that another call has written while the source was read. It reports that entry as
//! failed.

use toolwright::{Output, ToolError, tool};

use super::marked::mark_value;
use super::path::LogicalPath;
use super::store::ContextStore;

/// Fetch stored texts that have a source again, so that they are as the source is now.
#[tool(
    unlinked,
    group = "context",
    danger = moderate,
    effect = idempotent,
    writes(LogicalPath = LogicalPath::folder(path.as_deref())),
    reads(file = vec![None::<String>])
)]
pub async fn context_refresh(
    store: &ContextStore,
    /// Refresh below this path only; everything when absent.
    #[arg(positional)]
    path: Option<String>,
) -> Result<Output, ToolError> {
    let (refreshed, sources) = store.refresh_marked(path.as_deref()).await?;
    mark_value(&refreshed, sources.iter().map(String::as_str))
}
