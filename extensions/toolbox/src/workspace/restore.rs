//! Restores a name of the workspace to a recorded state, if its present state is still the expected one: content and
//! mode together, and the folders above.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::fs::{Dir, OpenOptions, Permissions};
use toolwright::ToolError;

use super::links::is_absent;
use super::local::LocalFiles;
use super::restored::RecordedFile;
use super::{Above, Name, State, failed};
use crate::step::step;

impl LocalFiles {
    /// Restores `name` to a recorded state, if its present state is still `expected`.
    pub(super) fn bring_back(
        &self,
        name: &Name,
        expected: &State,
        restored: &RecordedFile<'_>,
    ) -> Result<(), ToolError> {
        let lookup = |error| failed(name, error);
        let is_expected = || match self.look_at(name)?.state == *expected {
            true => Ok(()),
            false => Err(ToolError::new(
                "file_changed",
                format!(
                    "`{name}` was changed by another program in the meantime; it was left alone"
                ),
            )),
        };
        match restored.state {
            State::Absent => {
                is_expected()?;
                step();
                match self.folder.remove_file(name) {
                    Err(error) if !is_absent(&error) => return Err(lookup(error)),
                    _ => {}
                }
                step();
                self.remove_made(restored.above);
                return Ok(());
            }
            State::File { .. } | State::Link { .. } => {}
            State::Folder | State::Unrecorded { .. } => {
                let message = format!("the earlier content of `{name}` is not in the change log");
                return Err(ToolError::new("not_recorded", message));
            }
        }
        self.make_missing(restored.above).map_err(lookup)?;
        let path = Path::new(name.as_str());
        let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
        let folder = self.folder.open_dir(parent.unwrap_or(Path::new("."))).map_err(lookup)?;
        let temporary = beside(&folder, restored).map_err(lookup)?;
        step();
        let file = path.file_name().unwrap_or_default();
        let renamed =
            is_expected().and_then(|()| folder.rename(&temporary, &folder, file).map_err(lookup));
        if renamed.is_err() {
            // Ignore an error of the cleanup, because the error of the write is reported.
            let _ = folder.remove_file(&temporary);
        }
        step();
        renamed
    }

    /// Creates the folders that existed in the recorded state, with their modes.
    fn make_missing(&self, above: &[Above]) -> io::Result<()> {
        for Above { folder, mode } in above {
            match self.folder.create_dir(folder) {
                Ok(()) => {
                    step();
                    if let Some(mode) = mode {
                        set_mode(&self.folder, folder, *mode)?;
                    }
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Removes the folders that did not exist in the recorded state, the innermost first, if they are empty.
    fn remove_made(&self, above: &[Above]) {
        let made = above.iter().rev().take_while(|it| it.mode.is_none());
        for Above { folder, .. } in made {
            // If the folder still exists, another process has put a file into it. Leave it and the folders above it.
            if self.folder.remove_dir(folder).is_err() && self.folder.exists(folder) {
                break;
            }
            step();
        }
    }
}

/// Creates the file or link under a temporary name next to the target. Only the owner can read it until it gets its
/// mode.
fn beside(folder: &Dir, restored: &RecordedFile<'_>) -> io::Result<OsString> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = OsString::from(format!(".toolwright-{}-u{number}.tmp", process::id()));
        let made = match restored.state {
            State::Link { target } => link(folder, target, &name),
            State::File { mode, .. } => fill(folder, &name, restored.content, *mode),
            _ => Err(ErrorKind::InvalidInput.into()),
        };
        match made {
            // An earlier process with the same id has left this file behind, so try another name.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => {
                let _ = folder.remove_file(&name);
                return Err(error);
            }
            Ok(()) => return Ok(name),
        }
    }
}

fn fill(folder: &Dir, name: &OsStr, content: &[u8], mode: u32) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = folder.open_with(name, &options)?;
    step();
    file.write_all(content)?;
    let metadata = file.metadata()?;
    file.set_permissions(with_mode(metadata.permissions(), mode))?;
    file.sync_all()
}

#[cfg(unix)]
fn link(folder: &Dir, target: &str, name: &OsStr) -> io::Result<()> {
    folder.symlink_contents(target, name)
}

#[cfg(not(unix))]
fn link(_: &Dir, _: &str, _: &OsStr) -> io::Result<()> {
    Err(io::Error::new(ErrorKind::Unsupported, "links are not made on this system"))
}

fn set_mode(folder: &Dir, name: &str, mode: u32) -> io::Result<()> {
    let path = PathBuf::from(name);
    let permissions = folder.metadata(&path)?.permissions();
    folder.set_permissions(&path, with_mode(permissions, mode))
}

fn with_mode(mut permissions: Permissions, mode: u32) -> Permissions {
    #[cfg(unix)]
    cap_std::fs::PermissionsExt::set_mode(&mut permissions, mode);
    #[cfg(not(unix))]
    permissions.set_readonly(mode & 0o200 == 0);
    permissions
}
