//! Stamps of resources: two equal stamps show that the resource has not changed between them.

use std::fs::Metadata;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The version of a resource, such as an entity tag. Every change of the resource changes its stamp.
///
/// ```
/// use toolwright::ResourceStamp;
///
/// assert_ne!(ResourceStamp::new("\"33a64df5\""), ResourceStamp::new("\"0c8d2a11\""));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ResourceStamp(Box<str>);

/// The time after a change during which a second change may leave the timestamp the same. File systems store times in
/// steps of up to two seconds.
const STEP: Duration = Duration::from_secs(2);

impl ResourceStamp {
    /// Makes a stamp from a text that identifies a version, such as a hash or a modification time.
    #[must_use]
    pub fn new(version: impl Into<Box<str>>) -> Self {
        Self(version.into())
    }

    /// Makes the stamp of a resource that only calls can change.
    #[must_use]
    pub fn unchanging() -> Self {
        Self::new("")
    }

    /// Makes the stamp of a regular file; links are followed. `None` if the path is not that of a regular file, or if
    /// the file changed less than two seconds ago.
    pub(super) fn of_file(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        let modified = metadata.modified().ok()?;
        // A time in the future is possible, because the clock may have been set back. So the distance from now counts
        // in both directions.
        let age = match SystemTime::now().duration_since(modified) {
            Ok(age) => age,
            Err(ahead) => ahead.duration(),
        };
        if !metadata.is_file() || age < STEP {
            return None;
        }
        Some(Self::new(format!("{} {modified:?} {}", metadata.len(), identity(&metadata))))
    }
}

/// Returns a text that identifies a file and the time of its last change.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> String {
    use std::os::unix::fs::MetadataExt as _;
    let (device, inode) = (metadata.dev(), metadata.ino());
    format!("{device}:{inode} {}.{}", metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn identity(metadata: &Metadata) -> String {
    format!("{:?}", metadata.created().ok())
}
