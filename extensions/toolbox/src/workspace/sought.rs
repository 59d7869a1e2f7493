//! The scope of a search, and its results.

use std::time::SystemTime;

use toolwright::{ErrorClass, ToolContext, ToolError, error_kind};

use super::Name;

/// The scope of a search, without the workspace itself.
pub(crate) struct SearchScope<'w> {
    pub(crate) context: &'w ToolContext,
    pub(crate) include_ignored: bool,
    pub(crate) depth: Option<usize>,
}

/// A file or a folder that a search has found.
pub(crate) struct FoundEntry {
    /// The name of the entry, relative to the workspace.
    pub(crate) name: Name,
    /// The path relative to the searched folder. If a single file was searched, the name of that file.
    pub(crate) relative: String,
    /// The kind of the entry. For a link, it is that of the link itself.
    pub(crate) kind: Kind,
    /// The size of the file in bytes.
    pub(crate) size: u64,
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    /// A link, a device, a FIFO or a socket.
    Other,
}

/// A file that a parallel search has found and not opened.
pub(crate) struct ListedEntry {
    pub(crate) name: Name,
    pub(crate) relative: String,
    /// The modification time of the file, if the search already knows it.
    pub(crate) modified: Option<SystemTime>,
}

/// A function that receives the files which one thread of a search finds.
pub(crate) type Worker<'a> = Box<dyn FnMut(ListedEntry) + Send + 'a>;

impl SearchScope<'_> {
    /// Fails if the call that searches is cancelled.
    pub(crate) fn is_wanted(&self) -> Result<(), ToolError> {
        if self.context.is_cancelled() {
            let message = "the search was cancelled before its end";
            return Err(ToolError::new(error_kind::CANCELLED, message).class(ErrorClass::Cancelled));
        }
        Ok(())
    }
}
