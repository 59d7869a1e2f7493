//! A keeper of knowledge: notes in a store that is searched and queried; skills, schedules, tasks and prompts as Markdown
//! files, which are edited by lines and never left broken.

mod capabilities;
mod document;
mod edit;
mod kinds;
mod library;
mod offline;
mod tools;

pub use capabilities::CAPABILITIES_REFRESH;
pub use edit::Edited;
pub use library::Library;
pub use offline::show;
pub use tools::{executor, registry};
