//! The folder whose files the tools read and write. No name leads out of the folder.
//!
//! A folder of this machine is held open by a handle, so that it remains the same folder even if it is moved or
//! replaced. Links are followed as long as they stay inside. The path of the folder is used only to list files with the
//! rules of `ignore` and to start programs. Each listed name is looked up again through the handle before it is
//! reported or read. For a container, the container itself is the boundary.

#[cfg(feature = "process")]
mod elsewhere;
mod failure;
mod files;
#[cfg(any(feature = "files", feature = "process"))]
mod folder;
#[cfg(feature = "files")]
mod hash;
#[cfg(feature = "files")]
mod ignored;
mod links;
#[cfg(feature = "files")]
mod listed;
mod local;
mod name;
mod regular;
mod replace;
#[cfg(feature = "changes")]
mod restore;
#[cfg(feature = "changes")]
mod restored;
#[cfg(feature = "files")]
mod rules;
#[cfg(feature = "files")]
mod search;
#[cfg(feature = "files")]
mod sought;
#[cfg(feature = "changes")]
mod state;
#[cfg(feature = "files")]
mod text;
#[cfg(feature = "files")]
mod walk;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolwright::{Holds, ResourceScope, ToolError};

pub(crate) use failure::failed;
pub(crate) use files::Files;
#[cfg(feature = "files")]
pub(crate) use hash::{content_hash, is_expected};
#[cfg(feature = "container")]
pub(crate) use links::LinkNames;
pub(crate) use name::Name;
#[cfg(feature = "container")]
pub(crate) use regular::{changed_meanwhile, not_regular, read_only, too_large};
pub(crate) use replace::{After, Before, Change};
#[cfg(feature = "changes")]
pub(crate) use restored::RecordedFile;
#[cfg(all(feature = "files", feature = "container"))]
pub(crate) use rules::{OfFolder, ignores, rules_of};
#[cfg(feature = "files")]
pub(crate) use search::Walk;
#[cfg(all(feature = "files", feature = "container"))]
pub(crate) use sought::{FoundEntry, SearchScope, Worker};
#[cfg(feature = "files")]
pub(crate) use sought::{Kind, ListedEntry};
#[cfg(feature = "changes")]
pub(crate) use state::{Above, FileSnapshot, State, UnrecordedReason};
#[cfg(feature = "files")]
pub(crate) use text::{Encoding, Ends, MARK, Text, decode};

#[cfg(feature = "process")]
pub use elsewhere::ExecutorFiles;
pub use replace::WriteOutcome;

use local::LocalFiles;

/// The largest file that is read or edited: 10 MiB.
pub(crate) const LARGEST: u64 = 10 * 1024 * 1024;

/// A folder whose files tools may use. Paths are relative to it, with `/` as separator, and cannot lead out of it.
///
/// An application's own tools can use it as well, with the same containment and the same errors:
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
    files: Arc<dyn Files>,
    root: PathBuf,
    scope: ResourceScope,
    #[cfg(feature = "process")]
    processes: Arc<dyn crate::ToolExecutor>,
}

impl Workspace {
    /// Opens a folder and holds it open until the workspace is dropped.
    ///
    /// # Errors
    /// When the folder does not exist or cannot be opened.
    pub fn open(folder: impl AsRef<Path>) -> io::Result<Self> {
        let root = folder.as_ref().canonicalize()?;
        let files = Arc::new(LocalFiles::open(&root)?);
        // A path that is not UTF-8 is replaced by its debug form. The debug form begins with a quote, so it is no
        // absolute path, and answers about files in this scope are never cached.
        let scope = match root.to_str() {
            Some(path) => ResourceScope::new(path),
            None => ResourceScope::new(format!("{root:?}")),
        };
        Ok(Self {
            files,
            root,
            scope,
            #[cfg(feature = "process")]
            processes: Arc::new(crate::Local),
        })
    }

    /// Makes a workspace of the files that the executor provides, such as those of a `Container`, where
    /// its programs run too. No file on this machine is read or written.
    ///
    /// The container is the boundary. Names are checked only by their text; reads follow links as the container resolves them,
    /// and a policy sees only the link's own name. A write through a link is refused (`is_a_link`), and so is a call that a
    /// change log would record (`not_in_a_container`). Contents are not flushed to the container's disk before they are
    /// renamed.
    ///
    /// ```
    /// use toolwright_toolbox::{Container, Local, Workspace};
    ///
    /// let workspace = Workspace::within(Container::new("docker", "build-1").at("/site"))?;
    /// assert_eq!(workspace.root().to_str(), Some("/site"));
    /// // Programs of this machine work on its folders.
    /// assert!(Workspace::within(Local).is_err());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the executor provides no files, or the folder of the container is not an absolute path. A container that
    /// does not exist is an error only at the first call.
    #[cfg(feature = "process")]
    #[cfg_attr(docsrs, doc(cfg(feature = "process")))]
    pub fn within(executor: impl crate::ToolExecutor + 'static) -> io::Result<Self> {
        let ExecutorFiles { files, root, scope } = executor.files()?;
        let scope = ResourceScope::new(scope);
        Ok(Self { files, root, scope, processes: Arc::new(executor) })
    }

    /// Runs the programs of `run_command` with this executor, on the folder that was opened: in a sandbox, or in a
    /// `Container` that has the folder mounted.
    #[cfg(feature = "process")]
    #[cfg_attr(docsrs, doc(cfg(feature = "process")))]
    #[must_use]
    pub fn with_executor(mut self, executor: impl crate::ToolExecutor + 'static) -> Self {
        self.processes = Arc::new(executor);
        self
    }

    /// Returns the executor for programs of this workspace.
    #[cfg(feature = "process")]
    pub(crate) fn processes(&self) -> &dyn crate::ToolExecutor {
        self.processes.as_ref()
    }

    /// Returns the real path that the folder had when it was opened, or its path in the container. The path is for the
    /// application, for instance for the roots of a policy. The file tools and their errors do not show it to a model.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Reads the bytes of a file of at most 10 MiB.
    ///
    /// # Errors
    /// When the path leads out of the workspace (`outside_workspace`), there is no such file, it is a folder or not a regular
    /// file, it is too large, or it cannot be read.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, ToolError> {
        self.read_named(&Name::parse(path)?)
    }

    /// Reads the text of a file of at most 10 MiB: as UTF-8, as UTF-16 if it has a byte order mark, or else as Latin-1. The
    /// mark is left out.
    ///
    /// # Errors
    /// As [`read`](Self::read) does, and when the file is binary, or is not valid in the encoding that its mark
    /// declares.
    #[cfg(feature = "files")]
    #[cfg_attr(docsrs, doc(cfg(feature = "files")))]
    pub fn read_text(&self, path: &str) -> Result<String, ToolError> {
        let name = Name::parse(path)?;
        Ok(decode(&name, &self.read_named(&name)?)?.text)
    }

    /// Writes a whole file: a reader finds the old content or the new one, never a part. Missing folders above it are created,
    /// and a replaced file keeps its mode. A link inside the workspace is followed. A process that is killed meanwhile may
    /// leave a hidden file `.toolwright-….tmp` next to the target.
    ///
    /// # Errors
    /// When the path leads out of the workspace (`outside_workspace`), the name belongs to a folder or to something other than
    /// a regular file, the file is read-only, or it cannot be written.
    pub fn write(&self, path: &str, content: &[u8]) -> Result<WriteOutcome, ToolError> {
        let (before, after) = (Before::Any, After::Content(content));
        let written = self.change(&[Change { name: &Name::parse(path)?, before, after }])?;
        Ok(written.first().copied().unwrap_or(WriteOutcome::Created))
    }

    /// Reports whether anything has this name: a file, a folder, or a link, even a broken one.
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
    /// When the path leads out of the workspace (`outside_workspace`), a part of it is a file instead of a folder, or the
    /// file system fails.
    pub fn exists(&self, path: &str) -> Result<bool, ToolError> {
        self.files.exists(&Name::parse(path)?)
    }

    /// Returns the access to the files of this workspace.
    #[cfg(feature = "files")]
    pub(crate) fn placed(&self) -> &dyn Files {
        self.files.as_ref()
    }

    /// Returns how many other hard links a file has. Their names are unknown.
    #[cfg(feature = "files")]
    pub(crate) fn hard_links(&self, name: &Name) -> Result<usize, ToolError> {
        self.files.hard_links(name)
    }

    pub(crate) fn read_named(&self, name: &Name) -> Result<Vec<u8>, ToolError> {
        self.files.read(name, LARGEST)
    }

    #[cfg(feature = "files")]
    pub(crate) fn is_folder(&self, name: &Name) -> Result<bool, ToolError> {
        self.files.is_folder(name)
    }

    #[cfg(feature = "files")]
    pub(crate) fn modified(&self, name: &Name) -> Result<Option<std::time::SystemTime>, ToolError> {
        self.files.modified(name)
    }

    #[cfg(feature = "files")]
    pub(crate) fn real_name(&self, name: &Name) -> Option<PathBuf> {
        self.files.real_name(name)
    }

    /// Returns the real path of a folder in the workspace, for a program that runs there.
    #[cfg(feature = "process")]
    pub(crate) fn real_folder(&self, name: &Name) -> Result<PathBuf, ToolError> {
        self.files.real_folder(name)
    }

    /// Opens a listed entry below a folder as a regular file. On this machine, if a link has replaced the entry or a
    /// folder on its path meanwhile, the link is not followed.
    #[cfg(feature = "files")]
    pub(crate) fn open_listed(
        &self,
        start: &Name,
        relative: &str,
    ) -> Result<Box<dyn io::Read + Send>, ToolError> {
        self.files.open_listed(start, relative)
    }

    /// Opens a regular file, without the side effects of opening a device or a FIFO.
    #[cfg(feature = "files")]
    pub(crate) fn open_named(&self, name: &Name) -> Result<Box<dyn io::Read + Send>, ToolError> {
        self.files.open(name)
    }

    /// Makes all changes. If one fails, takes the earlier ones back; the error `partly_changed` says that a file could
    /// not be restored.
    pub(crate) fn change(&self, changes: &[Change<'_>]) -> Result<Vec<WriteOutcome>, ToolError> {
        self.files.change(changes)
    }

    #[cfg(any(feature = "changes", feature = "syntax"))]
    pub(crate) fn names_past_links(&self, name: &Name) -> Vec<Name> {
        self.files.names_past_links(name).inside
    }
}

#[cfg(feature = "changes")]
impl Workspace {
    pub(crate) fn written_names(&self, name: &Name) -> Result<Vec<Name>, ToolError> {
        self.files.written_names(name)
    }

    pub(crate) fn look(&self, name: &Name) -> Result<FileSnapshot, ToolError> {
        self.files.look(name)
    }

    pub(crate) fn above(&self, name: &Name) -> Result<Vec<Above>, ToolError> {
        self.files.above(name)
    }

    pub(crate) fn restore(
        &self,
        name: &Name,
        expected: &State,
        restored: &RecordedFile<'_>,
    ) -> Result<(), ToolError> {
        self.files.restore(name, expected, restored)
    }
}

/// Two workspaces share files if they have the same folder, or if one folder is below the other.
impl Holds<toolwright::File> for Workspace {
    fn scope(&self) -> ResourceScope {
        self.scope.clone()
    }

    /// Returns the names of a file that is reached through links: one name after each link, with the real name last. If
    /// a link leads out of the folder, its target is the last name. The tools for files refuse such a path, but a program
    /// would follow it.
    fn other_names(&self, name: &str) -> Vec<String> {
        let Ok(name) = Name::parse(name) else { return Vec::new() };
        let names = self.files.names_past_links(&name);
        names.inside.iter().map(ToString::to_string).chain(names.outside).collect()
    }
}
