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

    /// Returns the origin of a text, if a stranger may have written the text, such as a page of the web. The store then
    /// marks the text as untrusted, with this origin. `name` is the part after the colon. By default no text is marked.
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
