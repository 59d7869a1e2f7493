//! `write_file` writes a whole file.
//!
//! # What it does
//! It makes a file or replaces one, with the folders above it. A reader finds the old content or the new one, never a part.
//! A file that is replaced keeps its mode; a link inside the workspace is followed. It becomes a file of its own: other hard
//! links keep the old content.
//!
//! # What it may touch
//! It writes the file that `path` names.
//!
//! # What it refuses
//! Paths that lead out of the workspace; names of folders, devices, FIFOs and sockets; files that are read-only; links that
//! lead nowhere.

use toolwright::{ToolError, tool};

use super::notes::counted;
use crate::workspace::Name;
use crate::{Workspace, Written};

/// Write a whole text file: make it, or replace what it contains. To change a part of a file, use `edit_file`.
#[tool(unlinked, group = "file", danger = moderate, effect = idempotent, writes(file = path), blocking)]
pub fn write_file(
    workspace: &Workspace,
    /// Path relative to the workspace; missing folders are made.
    #[arg(alias = "file_path", example = "src/lib.rs", positional)]
    path: String,
    /// The whole text of the file.
    content: String,
) -> Result<String, ToolError> {
    let name = Name::parse(&path)?;
    let written = match workspace.write(&path, content.as_bytes())? {
        Written::Created => "created",
        Written::Replaced => "replaced",
    };
    Ok(format!("{written} `{name}`, {}", counted(content.len(), "byte", "bytes")))
}
