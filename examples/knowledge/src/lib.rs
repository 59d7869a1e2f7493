//! Manages knowledge: notes in a store that can be searched and queried, and skills, schedules, tasks and prompts as
//! Markdown files. Edits of the files are by lines, and an invalid edit is refused.

mod capabilities;
mod chat;
mod document;
mod edit;
mod embeddings;
mod kinds;
mod library;
mod offline;
mod tasks;
mod themes;
mod tools;
mod work;

pub use capabilities::CAPABILITIES_REFRESH;
pub use chat::{SlashCommand, talk};
pub use edit::Edited;
pub use embeddings::embedder;
pub use library::Library;
pub use offline::show;
pub use tasks::{ClaimedTask, ScheduledTask};
pub use themes::{Theme, Themes};
pub use tools::{agent, builder, executor, registry};
pub use work::Worker;
