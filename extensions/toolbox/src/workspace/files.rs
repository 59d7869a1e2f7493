//! The files of a workspace, wherever they are: what a workspace asks of the folder of this machine, or of a container.
//!
//! Names are checked before they arrive here. What a place cannot do is an error that says so.

use std::fmt;
#[cfg(feature = "files")]
use std::io::Read;
#[cfg(any(feature = "files", feature = "process"))]
use std::path::PathBuf;

use toolwright::ToolError;

use super::Name;
use super::replace::{Change, WriteOutcome};
#[cfg(feature = "changes")]
use super::restored::RecordedFile;
#[cfg(feature = "files")]
use super::sought::{FoundEntry, SearchScope, Worker};
#[cfg(feature = "changes")]
use super::state::{Above, FileSnapshot, State};

/// The files below one folder.
pub(crate) trait Files: fmt::Debug + Send + Sync {
    /// Whether anything has this name, also a link that leads nowhere.
    fn exists(&self, name: &Name) -> Result<bool, ToolError>;

    /// The bytes of a regular file of at most so many.
    fn read(&self, name: &Name, most: u64) -> Result<Vec<u8>, ToolError>;

    /// Makes all changes or none.
    fn change(&self, changes: &[Change<'_>]) -> Result<Vec<WriteOutcome>, ToolError>;

    /// The names that a path has after each link on its way, the real one last, without its own.
    fn names_past_links(&self, name: &Name) -> Vec<Name>;

    /// The path of a folder, for a program that runs in it where the files are.
    #[cfg(feature = "process")]
    fn real_folder(&self, name: &Name) -> Result<PathBuf, ToolError>;

    /// The name of what is there without links, where anything is.
    #[cfg(feature = "files")]
    fn real_name(&self, name: &Name) -> Option<PathBuf>;

    /// Whether the name is that of a folder; whatever it is, there must be something.
    #[cfg(feature = "files")]
    fn is_folder(&self, name: &Name) -> Result<bool, ToolError>;

    /// How many other names a file has.
    #[cfg(feature = "files")]
    fn hard_links(&self, name: &Name) -> Result<usize, ToolError>;

    /// When what has this name was changed, where that is known; of a link the link itself.
    #[cfg(feature = "files")]
    fn modified(&self, name: &Name) -> Result<Option<std::time::SystemTime>, ToolError>;

    /// Opens a regular file.
    #[cfg(feature = "files")]
    fn open(&self, name: &Name) -> Result<Box<dyn Read + Send>, ToolError>;

    /// Opens a regular file below a folder, and follows no link from there on.
    #[cfg(feature = "files")]
    fn open_listed(&self, start: &Name, relative: &str) -> Result<Box<dyn Read + Send>, ToolError>;

    /// Gives what is below a folder to `each`, in the order of the names, and returns how much could not be read.
    #[cfg(feature = "files")]
    fn list(
        &self,
        start: &Name,
        sought: &SearchScope<'_>,
        each: &mut dyn FnMut(FoundEntry) -> Result<(), ToolError>,
    ) -> Result<usize, ToolError>;

    /// Gives the files below a folder to what `worker` makes, in no order, and returns how much could not be read.
    #[cfg(feature = "files")]
    fn search<'a>(
        &self,
        start: &Name,
        sought: &SearchScope<'_>,
        worker: &(dyn Fn() -> Worker<'a> + Sync),
    ) -> Result<usize, ToolError>;

    /// The names whose files a write to `name` may change: its own, and where it is a link the one that it leads to.
    #[cfg(feature = "changes")]
    fn written_names(&self, name: &Name) -> Result<Vec<Name>, ToolError>;

    /// What is at this name itself: of a link the link.
    #[cfg(feature = "changes")]
    fn look(&self, name: &Name) -> Result<FileSnapshot, ToolError>;

    /// The folders above a name, from the outermost, without the workspace itself.
    #[cfg(feature = "changes")]
    fn above(&self, name: &Name) -> Result<Vec<Above>, ToolError>;

    /// Brings `name` back to a state. What is there has to be `expected` at the last moment.
    #[cfg(feature = "changes")]
    fn restore(
        &self,
        name: &Name,
        expected: &State,
        restored: &RecordedFile<'_>,
    ) -> Result<(), ToolError>;
}
