//! Rates command lines by what they do: a grammar of bash parses the line, each simple command is rated, and the worst part
//! decides.
//!
//! ```text
//!  text ─▶ tree ─▶ simple commands ─▶ what wrappers run (env, xargs, sh -c, …) ─▶ a level for each ─▶ the worst
//!           │└─ what the tree cannot show is unknown, and an unknown part is dangerous
//!           └─ every word is understood, and only reads ─▶ safe; else moderate at least
//! ```
//!
//! No code in this module runs a command or reads a file.

mod ansi;
mod classify;
mod commands;
#[cfg(all(feature = "process", unix))]
mod files;
mod flags;
mod paths;
mod reader;
mod safe;
mod secrets;
mod table;
mod tree;
mod unwrap;
mod word;

#[cfg(all(feature = "process", unix))]
pub(crate) use classify::classify_from;
pub use classify::{Classification, Part, classify, classify_by};
pub use commands::{Commands, SimpleCommand, Unknown};
#[cfg(all(feature = "process", unix))]
pub(crate) use files::files_of;
pub use reader::ShellReader;
#[cfg(all(feature = "process", unix))]
pub(crate) use safe::{Look, Settings, Start, Walk};
#[cfg(all(feature = "process", unix))]
pub(crate) use secrets::{may_hold_secrets, names_of_secrets};
pub use table::{CommandTable, TableError};
