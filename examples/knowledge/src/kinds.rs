//! The kinds of Markdown files. A kind is a type, which is its front matter, and a folder.

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

/// A kind of file, by its front matter.
pub trait Kind: DeserializeOwned {
    /// Its folder in the library.
    const FOLDER: &'static str;

    /// What is said of a file whose front matter cannot be read.
    const INVALID: &'static str;

    /// Whether names are of small letters, and are read so.
    const LOWER_CASE: bool = false;

    /// Refuses a file that is not to be edited, before any patch is tried.
    fn may_be_edited(&self, _name: &str) -> Result<(), Refusal> {
        Ok(())
    }

    /// Refuses what the file would become. `others` reads the other files of the kind, by name.
    fn accept(&self, before: &Self, name: &str, others: &dyn Others) -> Result<(), Refusal>;
}

/// The files of a kind beside the one that is edited.
pub trait Others {
    /// The front matter of each that can be read, by name.
    fn tasks(&self) -> BTreeMap<String, Task>;
}

/// Why an edit is refused: a kind of error and a message.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal(pub &'static str, pub String);

impl From<Refusal> for ToolError {
    fn from(Refusal(kind, message): Refusal) -> Self {
        Self::new(kind, message).class(toolwright::ErrorClass::Invalid)
    }
}
