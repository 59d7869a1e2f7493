//! Sources of entries, from which entries can be fetched again.

use std::sync::Arc;

use futures::future::BoxFuture;
use toolwright::ToolError;

use crate::Workspace;
use crate::blocking::blocking;

/// A kind of source of entries, such as files or pages, for [`ContextStore::with_source`](crate::ContextStore::with_source).
pub trait ContextSource: Send + Sync + 'static {
    /// Returns the part before the colon in a source of this kind: `file` in `file:README.md`.
    fn scheme(&self) -> &str;

    /// Fetches the text that `name`, the part after the colon, identifies.
    ///
    /// # Errors
    /// When the text cannot be fetched; the message is for the model.
    fn fetch(&self, name: String) -> BoxFuture<'_, Result<String, ToolError>>;

    /// Returns where the text comes from, for the mark of untrusted texts, if a stranger may have written what the part after the
    /// colon names, such as a page of the web. No text is marked unless this says so.
    fn untrusted(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }
}

/// The files of a workspace are sources named `file:README.md`.
impl ContextSource for Arc<Workspace> {
    fn scheme(&self) -> &str {
        "file"
    }

    fn fetch(&self, name: String) -> BoxFuture<'_, Result<String, ToolError>> {
        let workspace = Arc::clone(self);
        Box::pin(async move { blocking(move || workspace.read_text(&name)).await? })
    }
}
