//! What a search looks for, and what it finds.

use std::time::SystemTime;

use toolwright::{ErrorClass, ToolContext, ToolError, error_kind};

use super::Name;

/// What a search looks for, without the workspace.
pub(crate) struct SearchScope<'w> {
    pub(crate) context: &'w ToolContext,
    pub(crate) include_ignored: bool,
    pub(crate) depth: Option<usize>,
}

/// One file or folder that was found.
pub(crate) struct FoundEntry {
    /// Relative to the workspace.
    pub(crate) name: Name,
    /// Relative to the folder that was searched; of a file that was searched itself, its name.
    pub(crate) relative: String,
    /// The kind of what is there itself: of a link that of the link.
    pub(crate) kind: Kind,
    /// In bytes.
    pub(crate) size: u64,
}

/// What has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    /// A link, a device, a FIFO or a socket.
    Other,
}

/// One entry that a search on several threads came by; of a file it has not been opened.
pub(crate) struct ListedEntry {
    pub(crate) name: Name,
    pub(crate) relative: String,
    /// When it was changed, where the search has seen that already.
    pub(crate) modified: Option<SystemTime>,
}

/// What looks at the files that one thread of a search comes by.
pub(crate) type Worker<'a> = Box<dyn FnMut(ListedEntry) + Send + 'a>;

impl SearchScope<'_> {
    /// Refuses to go on where the call is cancelled.
    pub(crate) fn is_wanted(&self) -> Result<(), ToolError> {
        if self.context.is_cancelled() {
            let message = "the search was cancelled before its end";
            return Err(ToolError::new(error_kind::CANCELLED, message).class(ErrorClass::Cancelled));
        }
        Ok(())
    }
}
