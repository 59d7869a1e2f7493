//! The interface to the files of a workspace, which are on this machine or in a container.
//!
//! Callers have checked the names. An operation that an implementation does not support returns an error that says so.

use std::fmt;
#[cfg(feature = "files")]
use std::io::Read;
#[cfg(any(feature = "files", feature = "process"))]
use std::path::PathBuf;

use toolwright::ToolError;

use super::Name;
use super::links::LinkNames;
use super::replace::{Change, WriteOutcome};
#[cfg(feature = "changes")]
use super::restored::RecordedFile;
#[cfg(feature = "files")]
use super::sought::{FoundEntry, SearchScope, Worker};
#[cfg(feature = "changes")]
use super::state::{Above, FileSnapshot, State};

/// Access to the files below one folder.
pub(crate) trait Files: fmt::Debug + Send + Sync {
    /// Returns whether anything has this name, even a broken link.
    fn exists(&self, name: &Name) -> Result<bool, ToolError>;

    /// Returns the content of a regular file of at most `most` bytes.
    fn read(&self, name: &Name, most: u64) -> Result<Vec<u8>, ToolError>;

    /// Makes all changes. If one fails, takes the earlier ones back; the error `partly_changed` says that a file could
    /// not be restored.
    fn change(&self, changes: &[Change<'_>]) -> Result<Vec<WriteOutcome>, ToolError>;

    /// Returns the names that a path gets as its links are resolved one by one.
    fn names_past_links(&self, name: &Name) -> LinkNames;

    /// Returns the path of a folder, for a program that runs in the folder where the files are.
    #[cfg(feature = "process")]
    fn real_folder(&self, name: &Name) -> Result<PathBuf, ToolError>;

    /// Returns the real name of an existing entry, without links.
    #[cfg(feature = "files")]
    fn real_name(&self, name: &Name) -> Option<PathBuf>;

    /// Returns whether the name is that of a folder. Fails if nothing has the name.
    #[cfg(feature = "files")]
    fn is_folder(&self, name: &Name) -> Result<bool, ToolError>;

    /// Returns how many other hard links a file has.
    #[cfg(feature = "files")]
    fn hard_links(&self, name: &Name) -> Result<usize, ToolError>;

    /// Returns the modification time of an entry, if it is known. For a link, that is the time of the link itself.
    #[cfg(feature = "files")]
    fn modified(&self, name: &Name) -> Result<Option<std::time::SystemTime>, ToolError>;

    /// Opens a regular file.
    #[cfg(feature = "files")]
    fn open(&self, name: &Name) -> Result<Box<dyn Read + Send>, ToolError>;

    /// Opens a regular file below a folder. On this machine, links below the folder are not followed.
    #[cfg(feature = "files")]
    fn open_listed(&self, start: &Name, relative: &str) -> Result<Box<dyn Read + Send>, ToolError>;

    /// Calls `each` with the entries below a folder, sorted by name, and returns how many could not be read.
    #[cfg(feature = "files")]
    fn list(
        &self,
        start: &Name,
        sought: &SearchScope<'_>,
        each: &mut dyn FnMut(FoundEntry) -> Result<(), ToolError>,
    ) -> Result<usize, ToolError>;

    /// Passes each file below a folder, in any order, to a function. `worker` makes these functions, so that several
    /// can run at the same time. Returns how many files and folders could not be read.
    #[cfg(feature = "files")]
    fn search<'a>(
        &self,
        start: &Name,
        sought: &SearchScope<'_>,
        worker: &(dyn Fn() -> Worker<'a> + Sync),
    ) -> Result<usize, ToolError>;

    /// Returns the names of the files that a write to `name` may change: its own, and for a link also that of the
    /// link's target.
    #[cfg(feature = "changes")]
    fn written_names(&self, name: &Name) -> Result<Vec<Name>, ToolError>;

    /// Returns the state of this name. For a link, that is the state of the link itself.
    #[cfg(feature = "changes")]
    fn look(&self, name: &Name) -> Result<FileSnapshot, ToolError>;

    /// Returns the folders above a name, the outermost first, without the workspace itself.
    #[cfg(feature = "changes")]
    fn above(&self, name: &Name) -> Result<Vec<Above>, ToolError>;

    /// Restores `name` to a recorded state, if its present state is still `expected`.
    #[cfg(feature = "changes")]
    fn restore(
        &self,
        name: &Name,
        expected: &State,
        restored: &RecordedFile<'_>,
    ) -> Result<(), ToolError>;
}
