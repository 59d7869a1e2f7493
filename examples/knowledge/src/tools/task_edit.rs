//! `task_edit` replaces lines of a task. It reads and writes the file of the task alone, and refuses what would leave it broken:
//! then the file is what it was.

use toolwright::{ToolError, tool};
use toolwright_toolbox::LinePatch;

use crate::edit::{Edited, edit};
use crate::kinds::{Kind as _, Task};
use crate::library::Library;

/// Replace, insert or delete lines of a task by their numbers, which are those of the file before the call. Only a task that is pending can be edited, and not its status.
/// What would not fit is not written.
#[tool(
    unlinked,
    group = "task",
    danger = moderate,
    effect = once,
    writes(file = format!("{}/{name}.md", Task::FOLDER)),
    blocking
)]
pub fn task_edit(
    library: &Library,
    /// The name of the task: its file without `.md`.
    #[arg(positional)]
    name: String,
    /// What to replace, in any order; an empty list changes nothing.
    #[arg(length = 0..=1000)]
    patches: Vec<LinePatch>,
    /// The hash that the last edit answered: a file that was changed since is not edited.
    expected_hash: Option<String>,
) -> Result<Edited, ToolError> {
    edit::<Task>(library, &name, &patches, expected_hash.as_deref())
}
