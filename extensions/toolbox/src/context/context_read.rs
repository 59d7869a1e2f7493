//! `context_read` reads lines of an entry.
//!
//! # What it does
//! It answers with the numbered lines of a version, how many there are, the hash of the text, and how to get the rest.
//!
//! # What it may touch
//! It reads the entry that `path` names.
//!
//! # What it refuses
//! Entries, versions and lines that do not exist.

use toolwright::{Content, Output, ToolError, tool};

use super::marked::mark;
use super::path::LogicalPath;
use super::store::ContextStore;
use crate::files::number_lines;
use crate::workspace::{Encoding, Text};

/// Read a stored text, whole or in part. Each line of the answer begins with its number and a tab, which are not in the text.
#[tool(unlinked, group = "context", danger = safe, effect = read, reads(LogicalPath = path), blocking)]
pub fn context_read(
    store: &ContextStore,
    /// Logical path, such as `notes/today.md`.
    #[arg(example = "notes/today.md", positional)]
    path: String,
    /// First line to read, counted from 1.
    #[arg(default = 1, minimum = 1)]
    offset: usize,
    /// How many lines to read at the most.
    #[arg(default = 2000, minimum = 1, maximum = 100_000)]
    limit: usize,
    /// Which version; the last one when absent.
    #[arg(minimum = 1)]
    version: Option<u32>,
) -> Result<Output, ToolError> {
    let entry = store.read(&path, version)?;
    let text = Text { text: entry.content, encoding: Encoding::Utf8 { mark: false } };
    let lines = number_lines(&LogicalPath::parse(&path)?, &text, &entry.hash, offset, limit)?;
    let note = entry.note.map(|note| format!(": {note}")).unwrap_or_default();
    let head = format!("version {} of {}{note}", entry.version, entry.last_version);
    Ok(match entry.untrusted {
        Some(sources) => mark(Output::text(lines), [&*sources]).with(Content::text(head)),
        None => Output::text(format!("{head}\n{lines}")),
    })
}
