//! Identifies the file behind a path, to notice that a journal was deleted or replaced while it is open. Otherwise
//! SQLite would continue to write into the old file, which no path leads to any more.

use std::path::Path;

/// The identity of a file on its disk, which another file at the same path does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    file: u64,
}

impl Identity {
    /// Returns the identity of the file at this path; `None` if there is no file.
    #[cfg(unix)]
    pub fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;

        let metadata = std::fs::metadata(path).ok()?;
        Some(Self { device: metadata.dev(), file: metadata.ino() })
    }

    /// Checks only that the file exists, because on these systems an open file can neither be deleted nor replaced.
    #[cfg(not(unix))]
    pub fn of(path: &Path) -> Option<Self> {
        path.exists().then_some(Self { device: 0, file: 0 })
    }
}
