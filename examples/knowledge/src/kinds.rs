//! The kinds of Markdown files. A kind has a folder and a type for its front matter.

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

/// A kind of file, implemented by the type of its front matter.
pub trait Kind: DeserializeOwned {
    /// The folder of the kind in the library.
    const FOLDER: &'static str;

    /// The error kind if a file's front matter is invalid.
    const INVALID: &'static str;

    /// Whether the names of such files must be lower case.
    const LOWER_CASE: bool = false;

    /// Refuses a file that must not be edited, before any patch is tried.
    fn may_be_edited(&self, _name: &str) -> Result<(), Refusal> {
        Ok(())
    }

    /// Refuses the edited file if it is not valid. `others` reads the other files of the kind.
    fn accept(&self, before: &Self, name: &str, others: &dyn Others) -> Result<(), Refusal>;
}

/// The other files of the kind that is edited.
pub trait Others {
    /// Returns the front matter of each that can be read, by name.
    fn tasks(&self) -> BTreeMap<String, Task>;
}

/// Why an edit is refused: an error kind and a message.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal(pub &'static str, pub String);

impl From<Refusal> for ToolError {
    fn from(Refusal(kind, message): Refusal) -> Self {
        Self::new(kind, message).class(toolwright::ErrorClass::Invalid)
    }
}
