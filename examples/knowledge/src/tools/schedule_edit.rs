//! `schedule_edit` replaces lines of a schedule. It reads and writes the file of the schedule alone, and refuses what would leave it broken:
//! then the file is what it was.

use toolwright::{ToolError, tool};
use toolwright_toolbox::LinePatch;

use crate::edit::{Edited, edit};
use crate::kinds::{Kind as _, Schedule};
use crate::library::Library;

/// Replace, insert or delete lines of a schedule by their numbers, which are those of the file before the call. Its front matter has `id` and `cron`, five fields.
/// What would not fit is not written.
#[tool(
    unlinked,
    group = "schedule",
    danger = moderate,
    effect = once,
    writes(file = format!("{}/{name}.md", Schedule::FOLDER)),
    blocking
)]
pub fn schedule_edit(
    library: &Library,
    /// The name of the schedule: its file without `.md`.
    #[arg(positional)]
    name: String,
    /// What to replace, in any order; an empty list changes nothing.
    #[arg(length = 0..=1000)]
    patches: Vec<LinePatch>,
    /// The hash that the last edit answered: a file that was changed since is not edited.
    expected_hash: Option<String>,
) -> Result<Edited, ToolError> {
    edit::<Schedule>(library, &name, &patches, expected_hash.as_deref())
}
