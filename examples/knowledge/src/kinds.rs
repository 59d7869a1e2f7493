//! The kinds of Markdown files. Each kind has a folder and a type for its front matter.

mod prompt;
mod schedule;
mod skill;
mod task;

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use toolwright::ToolError;

pub use prompt::Prompt;
pub use schedule::Schedule;
pub use skill::Skill;
pub use task::{Status, Task};

/// The folder of each kind.
pub const FOLDERS: [&str; 4] = [Skill::FOLDER, Schedule::FOLDER, Task::FOLDER, Prompt::FOLDER];

/// A kind of Markdown file. The type of its front matter implements the trait.
pub trait Kind: DeserializeOwned {
    /// The name of the kind's folder in the library.
    const FOLDER: &'static str;

    /// The error kind for a file with invalid front matter.
    const INVALID: &'static str;

    /// Whether the names of files have to be in lower case.
    const LOWER_CASE: bool = false;

    /// Refuses every edit of a file that must not be edited.
    fn may_be_edited(&self, _name: &str) -> Result<(), Refusal> {
        Ok(())
    }

    /// Checks the front matter of the edited file. `others` reads the other files of the kind.
    fn accept(&self, before: &Self, name: &str, others: &dyn Others) -> Result<(), Refusal>;
}

/// Reads the other files of the kind, for checks that need them.
pub trait Others {
    /// Returns the front matter of each file that can be read, by the file's name.
    fn tasks(&self) -> BTreeMap<String, Task>;
}

/// The reason why an edit is refused: an error kind and a message.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal(pub &'static str, pub String);

impl From<Refusal> for ToolError {
    fn from(Refusal(kind, message): Refusal) -> Self {
        Self::new(kind, message).class(toolwright::ErrorClass::Invalid)
    }
}
