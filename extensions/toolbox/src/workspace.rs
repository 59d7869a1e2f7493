//! The folder that the tools work on, held by a handle: no name leads out of it, whatever is moved or linked meanwhile.
//!
//! Every open, stat and rename goes through the handle, component by component. Links may be followed as long as they stay
//! inside. The path of the folder serves only to list files by `ignore`'s rules and to start programs; what is listed is
//! looked up through the handle again before it is reported or read.

mod failure;
#[cfg(any(feature = "files", feature = "process"))]
mod folder;
#[cfg(feature = "files")]
mod hash;
mod links;
mod name;
mod replace;
#[cfg(feature = "changes")]
mod restore;
#[cfg(feature = "changes")]
mod state;
#[cfg(feature = "files")]
mod text;
#[cfg(feature = "files")]
mod walk;

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use cap_fs_ext::OpenOptionsSyncExt as _;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use toolwright::{Holds, ResourceScope, ToolError};

pub(crate) use failure::failed;
#[cfg(feature = "files")]
pub(crate) use hash::{content_hash, is_expected};
pub(crate) use name::Name;
pub(crate) use replace::{After, Before, Change};
#[cfg(feature = "changes")]
pub(crate) use restore::Restored;
#[cfg(feature = "changes")]
pub(crate) use state::{Above, Seen, State, Unrecorded};
#[cfg(feature = "files")]
pub(crate) use text::{Encoding, Ends, Text, decoded};
#[cfg(feature = "files")]
pub(crate) use walk::{Listed, Walk};

pub use replace::Written;

/// No file is read or edited that has more bytes than this: 10 MiB.
const LARGEST: u64 = 10 * 1024 * 1024;

/// A folder whose files tools may use. Paths are relative to it, with `/` between their parts, and none leads out of it.
///
/// An application's own tools use it as well, and get the same containment and the same errors:
///
/// ```
/// use toolwright::{ToolError, tool};
/// use toolwright_toolbox::Workspace;
///
/// /// Count the words of a text file.
/// #[tool(effect = read, reads(file = path), blocking)]
/// fn count_words(
///     workspace: &Workspace,
///     /// Path relative to the workspace.
///     path: String,
/// ) -> Result<usize, ToolError> {
///     Ok(workspace.read_text(&path)?.split_whitespace().count())
/// }
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let workspace = Workspace::open(folder)?;
/// workspace.write("a.txt", b"three short words")?;
/// assert_eq!(count_words(&workspace, "a.txt".into())?, 3);
/// assert_eq!(count_words(&workspace, "/etc/passwd".into()).unwrap_err().kind(), "outside_workspace");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Workspace {
    folder: Dir,
    root: PathBuf,
    scope: ResourceScope,
    #[cfg(feature = "process")]
    processes: std::sync::Arc<dyn crate::ToolExecutor>,
}

impl Workspace {
    /// Opens a folder and holds it until the workspace is dropped.
    ///
    /// # Errors
    /// When there is no such folder, or it cannot be opened.
    pub fn open(folder: impl AsRef<Path>) -> io::Result<Self> {
        let root = folder.as_ref().canonicalize()?;
        let folder = Dir::open_ambient_dir(&root, ambient_authority())?;
        // A path that is no text is told from others, and its files are never taken for unchanged.
        let scope = match root.to_str() {
            Some(path) => ResourceScope::new(path),
            None => ResourceScope::new(format!("{root:?}")),
        };
        Ok(Self {
            folder,
            root,
            scope,
            #[cfg(feature = "process")]
            processes: std::sync::Arc::new(crate::Local),
        })
    }

    /// Programs that `run_command` starts run elsewhere: in a [`Container`](crate::Container), in a sandbox.
    #[cfg(feature = "process")]
    #[cfg_attr(docsrs, doc(cfg(feature = "process")))]
    #[must_use]
    pub fn with_executor(mut self, executor: impl crate::ToolExecutor + 'static) -> Self {
        self.processes = std::sync::Arc::new(executor);
        self
    }

    /// Where programs of this workspace run.
    #[cfg(feature = "process")]
    pub(crate) fn processes(&self) -> &dyn crate::ToolExecutor {
        self.processes.as_ref()
    }

    /// The real path of the folder when it was opened: for the application, such as for a policy's roots. No tool and no
    /// error shows it to a model.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The bytes of a file of at most 10 MiB.
    ///
    /// # Errors
    /// When the path leads out of the workspace (`outside_workspace`), there is no such file, it is a folder or no regular
    /// file, it is too large, or it cannot be read.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, ToolError> {
        self.read_named(&Name::parse(path)?)
    }

    /// The text of a file of at most 10 MiB: in UTF-8, in UTF-16 with a byte order mark, or else in Latin-1. A mark is left
    /// out.
    ///
    /// # Errors
    /// As [`read`](Self::read) does, and when the file is binary.
    #[cfg(feature = "files")]
    #[cfg_attr(docsrs, doc(cfg(feature = "files")))]
    pub fn read_text(&self, path: &str) -> Result<String, ToolError> {
        let name = Name::parse(path)?;
        Ok(decoded(&name, &self.read_named(&name)?)?.text)
    }

    /// Writes a whole file: a reader finds the old content or the new one, never a part. Folders above it are made, and
    /// the mode of a file that is replaced stays. A link inside the workspace is followed. A process that is killed meanwhile
    /// may leave a hidden file `.toolwright-….tmp` beside the target.
    ///
    /// # Errors
    /// When the path leads out of the workspace (`outside_workspace`), a folder or no regular file has the name, the file
    /// is read-only, or it cannot be written.
    pub fn write(&self, path: &str, content: &[u8]) -> Result<Written, ToolError> {
        let (before, after) = (Before::Any, After::Content(content));
        let written = self.change(&[Change { name: &Name::parse(path)?, before, after }])?;
        Ok(written.first().copied().unwrap_or(Written::Created))
    }

    /// Whether anything has this name: a file, a folder, or a link, also one that leads nowhere.
    ///
    /// ```
    /// use toolwright_toolbox::Workspace;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path();
    /// let workspace = Workspace::open(folder)?;
    /// workspace.write("src/lib.rs", b"")?;
    /// assert!(workspace.exists("src")? && !workspace.exists("src/main.rs")?);
    /// assert!(workspace.exists("../src").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the path leads out of the workspace (`outside_workspace`), or it cannot be looked up.
    pub fn exists(&self, path: &str) -> Result<bool, ToolError> {
        let name = Name::parse(path)?;
        match self.folder.symlink_metadata(&name) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failed(&name, error)),
        }
    }

    /// How many other names a file has: hard links, of which nobody knows where they are.
    #[cfg(feature = "files")]
    pub(crate) fn other_names(&self, name: &Name) -> Result<usize, ToolError> {
        #[cfg(unix)]
        {
            use cap_std::fs::MetadataExt as _;
            match self.folder.metadata(name) {
                Ok(metadata) if metadata.is_file() => {
                    let names = usize::try_from(metadata.nlink()).unwrap_or(usize::MAX);
                    Ok(names.saturating_sub(1))
                }
                _ => Ok(0),
            }
        }
        #[cfg(not(unix))]
        {
            let _ = name;
            Ok(0)
        }
    }

    pub(crate) fn read_named(&self, name: &Name) -> Result<Vec<u8>, ToolError> {
        let file = self.open_named(name)?;
        let size = file.metadata().map_err(|error| failed(name, error))?.len();
        if size > LARGEST {
            return Err(too_large(name, size));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        // It may grow while it is read.
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| failed(name, error))?;
        match bytes.len() as u64 {
            size if size > LARGEST => Err(too_large(name, size)),
            _ => Ok(bytes),
        }
    }

    /// Whether the name is that of a folder; whatever it is, there must be something.
    #[cfg(feature = "files")]
    pub(crate) fn is_folder(&self, name: &Name) -> Result<bool, ToolError> {
        let metadata = self.folder.metadata(name).map_err(|error| failed(name, error))?;
        Ok(metadata.is_dir())
    }

    /// When what has this name was changed, where the file system knows; of a link the link itself.
    #[cfg(feature = "files")]
    pub(crate) fn modified(&self, name: &Name) -> io::Result<Option<std::time::SystemTime>> {
        let metadata = self.folder.symlink_metadata(name)?;
        Ok(metadata.modified().ok().map(cap_std::time::SystemTime::into_std))
    }

    /// Opens what was listed as a regular file; a link that took its place is not followed.
    #[cfg(feature = "files")]
    pub(crate) fn open_listed(&self, name: &Name) -> io::Result<File> {
        use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};

        let mut options = OpenOptions::new();
        options.read(true).nonblock(true).follow(FollowSymlinks::No);
        let file = self.folder.open_with(name, &options)?;
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Opens a regular file. What a device or a FIFO does when it is opened does not happen.
    pub(crate) fn open_named(&self, name: &Name) -> Result<File, ToolError> {
        let lookup = |error| failed(name, error);
        is_regular(name, &self.folder.metadata(name).map_err(lookup)?)?;
        links::is_real_name_text(&self.folder, name)?;
        let mut options = OpenOptions::new();
        // Another file may have the name by now, and opening a FIFO waits for its writer.
        options.read(true).nonblock(true);
        let file = self.folder.open_with(name, &options).map_err(lookup)?;
        is_regular(name, &file.metadata().map_err(lookup)?)?;
        Ok(file)
    }

    /// Makes all changes or none.
    pub(crate) fn change(&self, changes: &[Change<'_>]) -> Result<Vec<Written>, ToolError> {
        replace::change(&self.folder, changes)
    }
}

/// Two workspaces of one folder have the same files, and so have those of a folder and of one below it.
impl Holds<toolwright::File> for Workspace {
    fn scope(&self) -> ResourceScope {
        self.scope.clone()
    }

    /// The names of a file behind a link, or below a folder that is one: one after each link, the real name last.
    fn other_names(&self, name: &str) -> Vec<String> {
        let Ok(name) = Name::parse(name) else { return Vec::new() };
        self.names_past_links(&name).iter().map(ToString::to_string).collect()
    }
}

fn is_regular(name: &Name, metadata: &Metadata) -> Result<(), ToolError> {
    if metadata.is_file() {
        return Ok(());
    }
    if metadata.is_dir() {
        let message = format!("`{name}` is a folder, expected a file");
        return Err(ToolError::new("is_a_directory", message));
    }
    let message = format!("`{name}` is a device, a FIFO or a socket, expected a regular file");
    Err(ToolError::new("not_a_file", message))
}

fn too_large(name: &Name, size: u64) -> ToolError {
    let message = format!("`{name}` has {size} bytes, expected at most {LARGEST}");
    ToolError::new("file_too_large", message).hint("search in it instead of reading it whole")
}
