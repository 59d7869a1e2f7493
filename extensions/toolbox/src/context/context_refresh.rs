//! `context_refresh` fetches entries anew from their sources.
//!
//! # What it does
//! It asks the source of one entry after the other, and makes a new version where the text is another. The store is free for
//! other calls in between. What fails is reported and stops nothing.
//!
//! # What it may touch
//! It writes the entries below `path` that have a source, or all, and reads from the sources that the application offers: any
//! file, for a policy, because what the entries name is known when it runs.
//!
//! # What it refuses
//! To overwrite what another call has written while the source was asked: that entry is reported as failed.

use toolwright::{ToolError, tool};

use super::path::LogicalPath;
use super::refresh::RefreshedEntry;
use super::store::ContextStore;

/// Fetch stored texts that have a source again, so that they are as the source is now.
#[tool(unlinked, group = "context", danger = moderate, effect = idempotent, writes(LogicalPath = path), reads(file = vec![None::<String>]))]
pub async fn context_refresh(
    store: &ContextStore,
    /// Refresh below this path only; everything when absent.
    #[arg(positional)]
    path: Option<String>,
) -> Result<Vec<RefreshedEntry>, ToolError> {
    store.refresh(path.as_deref()).await
}
