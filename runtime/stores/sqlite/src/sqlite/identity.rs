//! Identifies the file behind a name, to notice that a journal was deleted or replaced while it is open: SQLite
//! continues to write into the file that it opened, which has no name any more.

use std::path::Path;

/// Distinguishes a file from another one with the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    file: u64,
}

impl Identity {
    /// Returns the identity of the file with this name; `None` if no file has it.
    #[cfg(unix)]
    pub fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;

        let metadata = std::fs::metadata(path).ok()?;
        Some(Self { device: metadata.dev(), file: metadata.ino() })
    }

    /// On other systems an open file can neither be deleted nor replaced, so only its existence is checked.
    #[cfg(not(unix))]
    pub fn of(path: &Path) -> Option<Self> {
        path.exists().then_some(Self { device: 0, file: 0 })
    }
}
