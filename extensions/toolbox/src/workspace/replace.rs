//! Writes a whole file or nothing: a temporary file beside the target, flushed to the disk, then renamed over it.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::fs::{Dir, File, OpenOptions, Permissions};
use toolwright::ToolError;

use super::failure::failed;
use super::is_regular;
use super::name::Name;

/// What [`Workspace::write`](crate::Workspace::write) did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Written {
    /// There was no such file.
    Created,
    /// The file had another content, or the same.
    Replaced,
}

/// Where a file is written: the open folder that holds it, its name there, and what it is now.
struct Target {
    folder: Dir,
    name: OsString,
    permissions: Option<Permissions>,
}

/// Writes `content`. Where `before` is given, the file must still have that content.
pub(super) fn write(
    root: &Dir,
    name: &Name,
    content: &[u8],
    before: Option<&[u8]>,
) -> Result<Written, ToolError> {
    let target = Target::find(root, name)?;
    let lookup = |error| failed(name, error);
    let (temporary, file) =
        create_beside(&target.folder, target.permissions.is_some()).map_err(lookup)?;
    let filled = fill(file, content, target.permissions.as_ref()).map_err(lookup);
    let renamed = filled.and_then(|()| {
        if let Some(before) = before {
            is_unchanged(&target, name, before)?;
        }
        target.folder.rename(&temporary, &target.folder, &target.name).map_err(lookup)
    });
    if let Err(error) = renamed {
        // The error of the write is the one to report.
        let _ = target.folder.remove_file(&temporary);
        return Err(error);
    }
    Ok(if target.permissions.is_some() { Written::Replaced } else { Written::Created })
}

impl Target {
    fn find(root: &Dir, name: &Name) -> Result<Self, ToolError> {
        let lookup = |error| failed(name, error);
        let (real, permissions) = match root.symlink_metadata(name) {
            Ok(metadata) if metadata.is_symlink() => {
                let real = root.canonicalize(name).map_err(|error| match error.kind() {
                    ErrorKind::NotFound => {
                        let message =
                            format!("`{name}` is a link to something that does not exist");
                        ToolError::new("dangling_link", message).caused_by(error)
                    }
                    _ => failed(name, error),
                })?;
                let metadata = root.metadata(&real).map_err(lookup)?;
                is_regular(name, &metadata)?;
                (real, Some(metadata.permissions()))
            }
            Ok(metadata) => {
                is_regular(name, &metadata)?;
                (PathBuf::from(name.as_str()), Some(metadata.permissions()))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                (PathBuf::from(name.as_str()), None)
            }
            Err(error) => return Err(failed(name, error)),
        };
        if permissions.as_ref().is_some_and(Permissions::readonly) {
            let message = format!("`{name}` is read-only, expected a file that may be written");
            return Err(ToolError::new("read_only", message));
        }
        let parent = real.parent().filter(|it| !it.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        if permissions.is_none() {
            root.create_dir_all(parent).map_err(lookup)?;
        }
        let folder = root.open_dir(parent).map_err(lookup)?;
        let name = real.file_name().unwrap_or_default().to_owned();
        Ok(Self { folder, name, permissions })
    }
}

/// Refuses to replace what somebody else has written meanwhile.
fn is_unchanged(target: &Target, name: &Name, before: &[u8]) -> Result<(), ToolError> {
    let mut found = Vec::with_capacity(before.len());
    let file = target.folder.open(&target.name).map_err(|error| failed(name, error))?;
    file.take(before.len() as u64 + 1)
        .read_to_end(&mut found)
        .map_err(|error| failed(name, error))?;
    if found == before {
        return Ok(());
    }
    let message =
        format!("`{name}` was changed by somebody else in the meantime; nothing was written");
    Err(ToolError::new("file_changed", message).hint("read it again"))
}

/// Where it replaces a file, nobody else can read it before it has that file's mode.
fn create_beside(folder: &Dir, replaces: bool) -> io::Result<(String, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if replaces {
        cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = replaces;
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".toolwright-{}-{number}.tmp", process::id());
        match folder.open_with(&name, &options) {
            // A process of this id has left it behind.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            opened => return Ok((name, opened?)),
        }
    }
}

fn fill(mut file: File, content: &[u8], permissions: Option<&Permissions>) -> io::Result<()> {
    file.write_all(content)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions.clone())?;
    }
    file.sync_all()
}

#[cfg(all(test, feature = "files"))]
mod tests {
    use crate::Workspace;
    use crate::workspace::Name;

    #[cfg(unix)]
    #[test]
    fn the_temporary_file_of_a_file_that_is_replaced_is_private() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().expect("a folder");
        let authority = cap_std::ambient_authority();
        let open = cap_std::fs::Dir::open_ambient_dir(folder.path(), authority).expect("a folder");
        let (name, _file) = super::create_beside(&open, true).expect("a file");
        let mode = folder.path().join(name).metadata().expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn what_somebody_else_wrote_meanwhile_is_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(folder.path()).expect("it is there");
        let name = Name::parse("a").expect("a name");
        for now in ["one two", "on", ""] {
            std::fs::write(folder.path().join("a"), now).expect("a file");
            let error = workspace.replace(&name, b"one", b"new").expect_err(now);
            assert_eq!(error.kind(), "file_changed");
            assert_eq!(workspace.read("a").expect("a file"), now.as_bytes());
        }
        std::fs::remove_file(folder.path().join("a")).expect("a file");
        assert_eq!(workspace.replace(&name, b"one", b"new").expect_err("gone").kind(), "not_found");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
}
