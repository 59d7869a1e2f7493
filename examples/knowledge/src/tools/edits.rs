//! `skill_edit`, `schedule_edit`, `task_edit` and `prompt_edit` replace lines of a file of one kind. Each reads and
//! writes only that file, and refuses an edit after which the file would be invalid. The tools differ in the kind and
//! in their descriptions.

use toolwright::{ToolError, tool};
use toolwright_toolbox::LinePatch;

use crate::edit::{Edited, edit, file_of};
use crate::kinds::{Prompt, Schedule, Skill, Task};
use crate::library::Library;

/// Makes the edit tool for a kind. The arguments are the tool's description, its name, the kind, the group, and the
/// description and name of the first parameter.
macro_rules! edit_tool {
    ($(#[$description:meta])* $tool:ident::<$kind:ty>, group = $group:literal, $(#[$name:meta])* name) => {
        $(#[$description])*
        /// What would not fit is not written.
        #[tool(
            unlinked,
            group = $group,
            danger = moderate,
            effect = once,
            writes(file = file_of::<$kind>(&name[..])),
            blocking
        )]
        pub fn $tool(
            library: &Library,
            $(#[$name])*
            #[arg(positional)]
            name: String,
            /// What to replace, in any order; an empty list changes nothing.
            #[arg(length = 0..=1000)]
            patches: Vec<LinePatch>,
            /// The hash that the last edit answered: a file that was changed since is not edited.
            expected_hash: Option<String>,
        ) -> Result<Edited, ToolError> {
            edit::<$kind>(library, &name, &patches, expected_hash.as_deref())
        }
    };
}

edit_tool! {
    /// Replace, insert or delete lines of a skill by their numbers, which are those of the file before the call. Its front matter has `name` and `description`.
    skill_edit::<Skill>, group = "skill",
    /// The name of the skill: its file without `.md`.
    name
}

edit_tool! {
    /// Replace, insert or delete lines of a schedule by their numbers, which are those of the file before the call. Its front matter has `id`, `cron` and `enabled`.
    schedule_edit::<Schedule>, group = "schedule",
    /// The name of the schedule: its file without `.md`.
    name
}

edit_tool! {
    /// Replace, insert or delete lines of a task by their numbers, which are those of the file before the call. Only a task that is pending can be edited, and not its status.
    task_edit::<Task>, group = "task",
    /// The name of the task: its file without `.md`.
    name
}

edit_tool! {
    /// Replace, insert or delete lines of a prompt by their numbers, which are those of the file before the call. Its front matter has `title`, `loading` and `agent-modification`.
    prompt_edit::<Prompt>, group = "context",
    /// The name of the prompt: its file without `.md`.
    name
}
