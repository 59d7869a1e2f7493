//! Which file a name leads to, so that a journal that was deleted or replaced under a process is seen: SQLite goes on writing into
//! the file that it opened, which no name leads to any more.

use std::path::Path;

/// What tells a file from another that has its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    file: u64,
}

impl Identity {
    /// Returns that of the file of this name; nothing where there is none.
    #[cfg(unix)]
    pub fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;

        let metadata = std::fs::metadata(path).ok()?;
        Some(Self { device: metadata.dev(), file: metadata.ino() })
    }

    /// Elsewhere a file that is open can neither be deleted nor replaced; that it is there is all that is seen.
    #[cfg(not(unix))]
    pub fn of(path: &Path) -> Option<Self> {
        path.exists().then_some(Self { device: 0, file: 0 })
    }
}
