//! The state of a name in the workspace, as a change log records it: absent, a file, a link, a folder, or a state that
//! cannot be recorded.

use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Metadata, OpenOptions};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use toolwright::ToolError;

use super::links::is_absent;
use super::local::LocalFiles;
use super::{Name, failed};

/// The maximum size of a file whose content is recorded: 32 MiB.
const LARGEST: u64 = 32 * 1024 * 1024;

/// The state of a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub(crate) enum State {
    Absent,
    File {
        /// The SHA-256 digest of the content, in hexadecimal digits.
        hash: String,
        size: u64,
        mode: u32,
    },
    Link {
        target: String,
    },
    Folder,
    /// A file whose content is not recorded. The other fields show whether the file has changed.
    Unrecorded {
        why: UnrecordedReason,
        size: u64,
        mode: u32,
        modified: u64,
    },
}

/// The reason why the content of a file is not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum UnrecordedReason {
    TooLarge,
    Unreadable,
    NoRegularFile,
}

/// A folder above a file, and its mode; `None` if the folder does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Above {
    pub(crate) folder: String,
    pub(crate) mode: Option<u32>,
}

/// The state of a name and, for a file, its content.
#[derive(Debug)]
pub(crate) struct FileSnapshot {
    pub(crate) state: State,
    pub(crate) content: Vec<u8>,
}

impl State {
    pub(crate) fn hash(&self) -> Option<&str> {
        match self {
            Self::File { hash, .. } => Some(hash),
            _ => None,
        }
    }

    fn unrecorded(why: UnrecordedReason, metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
        let modified = modified.and_then(|it| it.duration_since(std::time::UNIX_EPOCH).ok());
        let modified = modified.and_then(|it| u64::try_from(it.as_nanos()).ok());
        Self::Unrecorded {
            why,
            size: metadata.len(),
            mode: mode(metadata),
            modified: modified.unwrap_or_default(),
        }
    }
}

impl From<State> for FileSnapshot {
    fn from(state: State) -> Self {
        Self { state, content: Vec::new() }
    }
}

impl LocalFiles {
    /// Returns the state of this name. For a link, that is the state of the link itself.
    pub(super) fn look_at(&self, name: &Name) -> Result<FileSnapshot, ToolError> {
        let metadata = match self.folder.symlink_metadata(name) {
            Ok(metadata) => metadata,
            Err(error) if is_absent(&error) => return Ok(State::Absent.into()),
            Err(error) => return Err(failed(name, error)),
        };
        if metadata.is_symlink() {
            let target = self.folder.read_link_contents(name);
            let target = target.map_err(|error| failed(name, error))?;
            return Ok(State::Link { target: target.to_string_lossy().into_owned() }.into());
        }
        if metadata.is_dir() {
            return Ok(State::Folder.into());
        }
        if !metadata.is_file() {
            return Ok(State::unrecorded(UnrecordedReason::NoRegularFile, &metadata).into());
        }
        if metadata.len() > LARGEST {
            return Ok(State::unrecorded(UnrecordedReason::TooLarge, &metadata).into());
        }
        match self.content(name) {
            Ok(Some((content, metadata))) => {
                let state = State::File {
                    hash: hash(&content),
                    size: content.len() as u64,
                    mode: mode(&metadata),
                };
                Ok(FileSnapshot { state, content })
            }
            Ok(None) => Ok(State::unrecorded(UnrecordedReason::TooLarge, &metadata).into()),
            Err(error) if is_absent(&error) => Ok(State::Absent.into()),
            Err(error)
                if error.kind() == ErrorKind::PermissionDenied
                    && error.raw_os_error().is_some() =>
            {
                Ok(State::unrecorded(UnrecordedReason::Unreadable, &metadata).into())
            }
            Err(error) => Err(failed(name, error)),
        }
    }

    /// Returns the content of a regular file with its metadata; `None` if the file has become too large.
    fn content(&self, name: &Name) -> io::Result<Option<(Vec<u8>, Metadata)>> {
        let mut options = OpenOptions::new();
        // Another file may have the name by now. Do not block: opening a FIFO would wait for its writer.
        options.read(true).nonblock(true).follow(FollowSymlinks::No);
        let file = self.folder.open_with(name, &options)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(ErrorKind::NotFound.into());
        }
        let mut content =
            Vec::with_capacity(usize::try_from(metadata.len().min(LARGEST)).unwrap_or_default());
        file.take(LARGEST + 1).read_to_end(&mut content)?;
        Ok((content.len() as u64 <= LARGEST).then_some((content, metadata)))
    }

    /// Returns the folders above a name, the outermost first, without the workspace itself.
    pub(super) fn folders_above(&self, name: &Name) -> Result<Vec<Above>, ToolError> {
        let folders = Path::new(name.as_str()).ancestors().skip(1);
        let mut above = Vec::new();
        for folder in folders.filter(|it| !it.as_os_str().is_empty()) {
            let mode = match self.folder.metadata(folder) {
                Ok(metadata) => Some(mode(&metadata)),
                Err(error) if is_absent(&error) => None,
                Err(error) => return Err(failed(name, error)),
            };
            above.push(Above { folder: folder.to_string_lossy().into_owned(), mode });
        }
        above.reverse();
        Ok(above)
    }
}

pub(crate) fn hash(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}

#[cfg(unix)]
fn mode(metadata: &Metadata) -> u32 {
    cap_std::fs::MetadataExt::mode(metadata) & 0o7777
}

#[cfg(not(unix))]
fn mode(metadata: &Metadata) -> u32 {
    if metadata.permissions().readonly() { 0o444 } else { 0o644 }
}
