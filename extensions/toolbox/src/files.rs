//! The file tools, one in each module, and the constant that lists them.

mod apply_patch;
mod diff;
mod edit;
mod edit_file;
mod glob;
mod grep;
mod line_patch;
mod list_files;
mod notes;
mod occurrences;
mod patch;
mod patch_lines;
mod read_file;
mod write_file;

use toolwright::Handle;

pub use apply_patch::{APPLY_PATCH, ExpectedHash, apply_patch};
pub use edit_file::{EDIT_FILE, edit_file};
pub use glob::{GLOB, glob};
pub use grep::{GREP, GrepMode, grep, is_secret};
pub use line_patch::{LinePatch, patched_lines};
pub use list_files::{LIST_FILES, list_files};
pub use patch_lines::{PATCH_LINES, patch_lines};
#[cfg(feature = "context-store")]
pub(crate) use read_file::number_lines;
pub use read_file::{READ_FILE, read_file};
pub use write_file::{WRITE_FILE, write_file};

/// The tools that read, write, list and search the files of a [`Workspace`](crate::Workspace).
///
/// ```
/// use toolwright::{Handle, Registry};
/// use toolwright_toolbox::FILES;
///
/// let names: Vec<&str> = FILES.iter().map(|tool| tool.name()).collect();
/// let changing = ["write_file", "edit_file", "patch_lines", "apply_patch"];
/// assert_eq!(names[1..5], changing);
/// assert_eq!([names[0], names[5], names[6], names[7]], ["read_file", "list_files", "glob", "grep"]);
/// // Nothing is registered by being linked.
/// assert!(Handle::linked().all(|tool| tool.name() != "read_file"));
/// assert!(Registry::of(FILES)?.get("read_file").is_some());
/// # Ok::<(), toolwright::RegistryError>(())
/// ```
pub const FILES: [Handle; 8] =
    [READ_FILE, WRITE_FILE, EDIT_FILE, PATCH_LINES, APPLY_PATCH, LIST_FILES, GLOB, GREP];
