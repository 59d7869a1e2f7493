//! The change log: records what each call changed in the files of a workspace, and undoes it.
//!
//! ```text
//!  call ──► stage ── before: what is at the names that the call writes ───► SQLite file (flushed to the disk)
//!             │
//!           tool writes
//!             │
//!           stage ── after: what is there now ─────────────────────────────► SQLite file
//!
//!  undo ──► plan (pure) ──► mark ──► restore through the handle of the workspace ──► a change of its own
//! ```
//!
//! - The log records the state before a call and the state after it. A change without a state after belongs to a call
//!   that still runs or was interrupted. After an interrupted call, the next operation on the file records the present
//!   state of the file as the state after.
//! - Undo restores a file only if nothing else has changed it since.

mod back;
mod database;
mod file_history;
mod history;
mod log;
mod plan;
mod prune;
mod record;
mod rows;
mod stage;
mod take_back;
mod tool;
mod undo;
mod undo_file;
mod undo_turn;

use toolwright::Handle;

pub use database::ChangeLogError;
pub use file_history::{FILE_HISTORY, file_history};
pub use log::{ChangeLimits, ChangeLog};
pub use undo_file::{UNDO_FILE, undo_file};
pub use undo_turn::{UNDO_TURN, undo_turn};

/// The tools that show and undo changes. They need a [`ChangeLog`] as a service.
///
/// ```
/// use toolwright_toolbox::CHANGES;
///
/// let names: Vec<&str> = CHANGES.iter().map(|tool| tool.name()).collect();
/// assert_eq!(names, ["undo_file", "undo_turn", "file_history"]);
/// ```
pub const CHANGES: [Handle; 3] = [UNDO_FILE, UNDO_TURN, FILE_HISTORY];

#[cfg(test)]
#[cfg(unix)]
mod tests;
