//! The scope of a search, and its results.

use std::time::SystemTime;

use toolwright::{ErrorClass, ToolContext, ToolError, error_kind};

use super::Name;

/// The scope of a search, without the workspace.
pub(crate) struct SearchScope<'w> {
    pub(crate) context: &'w ToolContext,
    pub(crate) include_ignored: bool,
    pub(crate) depth: Option<usize>,
}

/// A file or a folder that was found.
pub(crate) struct FoundEntry {
    /// The name relative to the workspace.
    pub(crate) name: Name,
    /// The path relative to the searched folder; if a file was searched itself, its name.
    pub(crate) relative: String,
    /// The kind of the entry itself; links are not followed.
    pub(crate) kind: Kind,
    /// The size of the file, in bytes.
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

/// A file that a parallel search has found, but not opened.
pub(crate) struct ListedEntry {
    pub(crate) name: Name,
    pub(crate) relative: String,
    /// The modification time, if the search already knows it.
    pub(crate) modified: Option<SystemTime>,
}

/// Receives the files that one thread of a search finds.
pub(crate) type Worker<'a> = Box<dyn FnMut(ListedEntry) + Send + 'a>;

impl SearchScope<'_> {
    /// Returns an error if the call is cancelled.
    pub(crate) fn is_wanted(&self) -> Result<(), ToolError> {
        if self.context.is_cancelled() {
            let message = "the search was cancelled before its end";
            return Err(ToolError::new(error_kind::CANCELLED, message).class(ErrorClass::Cancelled));
        }
        Ok(())
    }
}
