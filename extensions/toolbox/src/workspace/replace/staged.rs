//! One file that is about to be replaced, created or removed. Its new content is in a temporary file next to it. If the
//! old file may have to be restored, it has a second name.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_fs_ext::OpenOptionsSyncExt as _;
use cap_std::fs::{Dir, File, OpenOptions, Permissions};
use toolwright::ToolError;

use super::{After, Before, Change, WriteOutcome};
use crate::step::step;
use crate::workspace::failure::failed;
use crate::workspace::links::is_real_name_text;
use crate::workspace::name::Name;
use crate::workspace::regular::{changed_meanwhile, is_regular, read_only};

/// A change that is ready to be committed. Dropping it before the commit removes its temporary files.
pub(super) struct StagedChange<'c> {
    change: &'c Change<'c>,
    root: &'c Dir,
    target: Target,
    /// The name of the temporary file with the new content.
    temporary: Option<String>,
    /// The second name of the old file, under which it can be restored.
    held: Option<String>,
    is_committed: bool,
}

/// The target of a write: the open folder that contains it, its name there, and the permissions of the present file.
struct Target {
    folder: Dir,
    name: OsString,
    permissions: Option<Permissions>,
    /// The folders that were created for the target, the outermost first.
    made: Vec<PathBuf>,
}

impl<'c> StagedChange<'c> {
    /// Writes the new content next to the target. If the change `may_be_undone`, the present file also gets a second name.
    pub(super) fn new(
        root: &'c Dir,
        change: &'c Change<'c>,
        may_be_undone: bool,
    ) -> Result<Self, ToolError> {
        let target = Target::find(root, change)?;
        let mut staged =
            Self { change, root, target, temporary: None, held: None, is_committed: false };
        staged.prepare(may_be_undone).map_err(|error| failed(change.name, error))?;
        Ok(staged)
    }

    fn prepare(&mut self, may_be_undone: bool) -> io::Result<()> {
        let Target { folder, name, permissions, .. } = &self.target;
        let (content, of, program) = match self.change.after {
            After::Removed => (None, None, None),
            After::Content(content) => (Some(content), None, None),
            After::WithMode { content, of, program } => (Some(content), of, program),
        };
        if let Some(content) = content {
            let mode = match of {
                Some(of) => Some(self.root.metadata(of)?.permissions()),
                None => permissions.clone(),
            };
            let (temporary, file) = create_beside(folder, mode.is_some())?;
            self.temporary = Some(temporary);
            step();
            let mode = with_program(&file, mode, program)?;
            fill(file, content, mode)?;
            step();
        }
        if permissions.is_some() && may_be_undone {
            // A hard link needs no space, so restoring the file cannot fail for lack of space.
            self.held = Some(link_beside(folder, name)?);
            step();
        }
        Ok(())
    }

    pub(super) fn name(&self) -> &Name {
        self.change.name
    }

    /// Checks the condition of the change again, because another process may have written the target meanwhile.
    pub(super) fn is_unchanged(&self) -> Result<(), ToolError> {
        let name = self.change.name;
        let expected = match self.change.before {
            Before::Any => return Ok(()),
            Before::Missing => None,
            Before::Content(content) => Some(content),
        };
        // The name may belong to a FIFO by now. Do not block: opening a FIFO would wait for its writer.
        let mut options = OpenOptions::new();
        options.read(true).nonblock(true);
        let found = match self.target.folder.open_with(&self.target.name, &options) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(failed(name, error)),
            Ok(file) => {
                let most = expected.map_or(0, <[u8]>::len) + 1;
                let mut found = Vec::with_capacity(most);
                let read = file.take(most as u64).read_to_end(&mut found);
                read.map_err(|error| failed(name, error))?;
                Some(found)
            }
        };
        if found.as_deref() == expected {
            return Ok(());
        }
        Err(changed_meanwhile(name))
    }

    /// Puts the new content in place. Only this step changes what others find under the name of the target.
    pub(super) fn commit(&mut self) -> Result<(), ToolError> {
        let Target { folder, name, .. } = &self.target;
        match &self.temporary {
            Some(temporary) => folder.rename(temporary, folder, name),
            None => folder.remove_file(name),
        }
        .map_err(|error| failed(self.change.name, error))?;
        step();
        self.temporary = None;
        self.is_committed = true;
        Ok(())
    }

    /// Restores the state before the commit. If that fails, the old file keeps its second name, and the error is the
    /// words for a model that name it.
    pub(super) fn restore(&mut self) -> Result<(), String> {
        let Target { folder, name, .. } = &self.target;
        let held = self.held.take();
        let restored = match &held {
            Some(held) => folder.rename(held, folder, name),
            None => folder.remove_file(name),
        };
        self.is_committed = restored.is_err();
        restored.map_err(|_| match held {
            Some(held) => {
                format!("`{}`, whose earlier content is in `{held}` beside it", self.name())
            }
            None => format!("`{}`", self.name()),
        })
    }

    pub(super) fn finish(self) -> WriteOutcome {
        match self.target.permissions {
            Some(_) => WriteOutcome::Replaced,
            None => WriteOutcome::Created,
        }
    }
}

impl Drop for StagedChange<'_> {
    fn drop(&mut self) {
        for name in self.temporary.iter().chain(&self.held) {
            // Ignore an error of the cleanup, because the original error is reported.
            let _ = self.target.folder.remove_file(name);
        }
        if !self.is_committed {
            for folder in self.target.made.iter().rev() {
                // Removing the folder fails, as intended, if another process has put a file into it.
                let _ = self.root.remove_dir(folder);
            }
        }
    }
}

impl Target {
    fn find(root: &Dir, change: &Change<'_>) -> Result<Self, ToolError> {
        let name = change.name;
        let lookup = |error| failed(name, error);
        is_real_name_text(root, name)?;
        let (real, permissions) = match root.symlink_metadata(name) {
            Ok(metadata) if metadata.is_symlink() && matches!(change.after, After::Removed) => {
                let message = format!(
                    "`{name}` is a link, expected a file to remove; name the file that it leads to"
                );
                return Err(ToolError::new("is_a_link", message));
            }
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
            return Err(read_only(name));
        }
        let parent = real.parent().filter(|it| !it.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        let makes = permissions.is_none() && !matches!(change.after, After::Removed);
        let made = if makes { make_folders(root, parent).map_err(lookup)? } else { Vec::new() };
        let folder = root.open_dir(parent).map_err(lookup)?;
        let name = real.file_name().unwrap_or_default().to_owned();
        Ok(Self { folder, name, permissions, made })
    }
}

/// Creates a folder and those above it, and returns which of them are new.
fn make_folders(root: &Dir, folder: &Path) -> io::Result<Vec<PathBuf>> {
    let missing = |it: &&Path| !it.as_os_str().is_empty() && !root.exists(it);
    let mut made: Vec<PathBuf> =
        folder.ancestors().take_while(missing).map(Path::to_owned).collect();
    made.reverse();
    root.create_dir_all(folder)?;
    Ok(made)
}

/// Returns a temporary name that is not used yet.
fn vacant() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!(".toolwright-{}-{number}.tmp", process::id())
}

/// Creates a file next to the target. If the file `replaces` another one, only the owner can read it until it gets that
/// file's mode.
fn create_beside(folder: &Dir, replaces: bool) -> io::Result<(String, File)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if replaces {
        cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = replaces;
    loop {
        let name = vacant();
        match folder.open_with(&name, &options) {
            // An earlier process with the same id has left this file behind, so try another name.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            opened => return Ok((name, opened?)),
        }
    }
}

/// Gives a file a second name next to it, and returns that name.
fn link_beside(folder: &Dir, name: &OsStr) -> io::Result<String> {
    loop {
        let held = vacant();
        match folder.hard_link(name, folder, &held) {
            // An earlier process with the same id has left a file behind, so try another name.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            linked => return linked.map(|()| held),
        }
    }
}

/// Returns the mode for the new file: the given mode, with the executable bits set or cleared if `program` says so.
/// Returns `None` for the default mode of new files.
fn with_program(
    file: &File,
    permissions: Option<Permissions>,
    program: Option<bool>,
) -> io::Result<Option<Permissions>> {
    #[cfg(unix)]
    if let Some(is_program) = program {
        use cap_std::fs::PermissionsExt as _;

        let now = match permissions {
            Some(permissions) => permissions,
            None => file.metadata()?.permissions(),
        };
        // As in git, everyone who may read the file may also execute it.
        let mode = match is_program {
            true => now.mode() | (now.mode() & 0o444) >> 2,
            false => now.mode() & !0o111,
        };
        return Ok(Some(Permissions::from_mode(mode)));
    }
    let _ = (file, program);
    Ok(permissions)
}

fn fill(mut file: File, content: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    file.write_all(content)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.sync_all()
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::{After, Before, Change, StagedChange};
    use crate::workspace::Name;

    #[test]
    fn an_old_file_that_cannot_be_restored_is_kept_and_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        fs::write(&path, "old").expect("a file");
        let authority = cap_std::ambient_authority();
        let root = cap_std::fs::Dir::open_ambient_dir(folder.path(), authority).expect("a folder");
        let name = Name::parse("a").expect("a name");
        let change = Change { name: &name, before: Before::Any, after: After::Content(b"new") };
        let mut staged = StagedChange::new(&root, &change, true).expect("it is staged");
        staged.commit().expect("it is committed");
        fs::remove_file(&path).expect("a file");
        fs::create_dir(&path).expect("a folder");
        let words = staged.restore().expect_err("a folder is in the way");
        drop(staged);
        let held = words.split('`').nth(3).expect("a name");
        assert_eq!(fs::read_to_string(folder.path().join(held)).expect("a file"), "old");
    }

    #[test]
    fn the_temporary_file_of_a_file_that_is_replaced_is_private() {
        let folder = tempfile::tempdir().expect("a folder");
        let authority = cap_std::ambient_authority();
        let open = cap_std::fs::Dir::open_ambient_dir(folder.path(), authority).expect("a folder");
        let (name, _file) = super::create_beside(&open, true).expect("a file");
        let mode = folder.path().join(name).metadata().expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
