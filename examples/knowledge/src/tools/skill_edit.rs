//! `skill_edit` replaces lines of a skill. It reads and writes the file of the skill alone, and refuses what would leave it broken:
//! then the file is what it was.

use toolwright::{ToolError, tool};
use toolwright_toolbox::LinePatch;

use crate::edit::{Edited, edit};
use crate::kinds::{Kind as _, Skill};
use crate::library::Library;

/// Replace, insert or delete lines of a skill by their numbers, which are those of the file before the call. Its front matter has `name` and `description`.
/// What would not fit is not written.
#[tool(
    unlinked,
    group = "skill",
    danger = moderate,
    effect = once,
    writes(file = format!("{}/{name}.md", Skill::FOLDER)),
    blocking
)]
pub fn skill_edit(
    library: &Library,
    /// The name of the skill: its file without `.md`.
    #[arg(positional)]
    name: String,
    /// What to replace, in any order; an empty list changes nothing.
    #[arg(length = 0..=1000)]
    patches: Vec<LinePatch>,
    /// The hash that the last edit answered: a file that was changed since is not edited.
    expected_hash: Option<String>,
) -> Result<Edited, ToolError> {
    edit::<Skill>(library, &name, &patches, expected_hash.as_deref())
}
