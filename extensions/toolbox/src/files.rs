//! The tools for files, one a file, and the group that holds their handles.

mod edit_file;
mod glob;
mod grep;
mod list_files;
mod notes;
mod read_file;
mod write_file;

use toolwright::Handle;

pub use edit_file::{EDIT_FILE, edit_file};
pub use glob::{GLOB, glob};
pub use grep::{GREP, GrepMode, grep, is_secret};
pub use list_files::{LIST_FILES, list_files};
pub use read_file::{READ_FILE, read_file};
pub use write_file::{WRITE_FILE, write_file};

/// The tools that read, write, list and search the files of a [`Workspace`](crate::Workspace).
///
/// ```
/// use toolwright::Registry;
/// use toolwright_toolbox::FILES;
///
/// let names: Vec<&str> = FILES.iter().map(|tool| tool.name()).collect();
/// assert_eq!(names, ["read_file", "write_file", "edit_file", "list_files", "glob", "grep"]);
/// // Nothing is registered by being linked.
/// assert!(Registry::linked()?.get("read_file").is_none());
/// assert!(Registry::of(FILES)?.get("read_file").is_some());
/// # Ok::<(), toolwright::RegistryError>(())
/// ```
pub const FILES: [Handle; 6] = [READ_FILE, WRITE_FILE, EDIT_FILE, LIST_FILES, GLOB, GREP];
