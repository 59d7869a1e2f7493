//! `write_file` writes a whole file.
//!
//! # What it does
//! It creates a file or replaces one, and creates missing folders above it. A reader finds either the old or the new content,
//! never a part. A replaced file keeps its mode; a link inside the workspace is followed. Other hard links keep the old
//! content, and the answer says how many there are. The text is written in UTF-8. The answer has a short diff and the hash of
//! the new content. If a call is repeated after a crash, it writes the same content again.
//!
//! # What it may touch
//! It writes the file that `path` names. If the application has a change log, the log first records the earlier
//! content, which `undo_file` restores.
//!
//! # What it refuses
//! Paths that lead out of the workspace; names of folders, devices, FIFOs and sockets; files that are read-only; links that
//! lead nowhere; a file whose content has another hash than `expected_hash`.

use toolwright::{ToolError, tool};

use super::diff;
use super::edit::{answer, other_names, show_diff};
use super::notes::count;
use crate::workspace::{After, Before, Change, Name, decode, is_expected};
use crate::{Workspace, WriteOutcome};

/// Write a whole text file: make it, or replace what it contains. To change a part of a file, use `edit_file`.
#[tool(
    unlinked,
    group = "file",
    danger = moderate,
    effect = idempotent,
    writes(file = path),
    blocking,
    preview = |workspace, path, content| -> Result<String, ToolError> {
        let name = Name::parse(&path)?;
        let found = now(workspace, &name, false)?;
        Ok(match found {
            OldContent::Nothing => format!("new file `{name}`\n{content}"),
            found => show_diff(&name, &difference(&name, &found, &content, diff::IN_A_PREVIEW)),
        })
    }
)]
pub fn write_file(
    workspace: &Workspace,
    /// Path relative to the workspace; missing folders are made.
    #[arg(alias = "file_path", example = "src/lib.rs", positional)]
    path: String,
    /// The whole text of the file.
    content: String,
    /// The hash that `read_file` showed: a file that was changed since is not replaced. `none` where there must be no file.
    expected_hash: Option<String>,
) -> Result<String, ToolError> {
    let name = Name::parse(&path)?;
    let found = now(workspace, &name, expected_hash.is_some())?;
    let content_now = match &found {
        OldContent::Content(content) => Some(content.as_slice()),
        OldContent::Nothing | OldContent::Unread => None,
    };
    // If the call is repeated after a crash, the file may already have the new content.
    if content_now != Some(content.as_bytes()) {
        is_expected(&name, content_now, expected_hash.as_deref())?;
    }
    let before = match (&expected_hash, content_now) {
        (None, _) => Before::Any,
        (_, Some(content)) => Before::Content(content),
        (_, None) => Before::Missing,
    };
    let links = workspace.hard_links(&name)?;
    let change = Change { name: &name, before, after: After::Content(content.as_bytes()) };
    let written = match workspace.change(&[change])?.first() {
        Some(WriteOutcome::Replaced) => "replaced",
        _ => "created",
    };
    let mut done = format!("{written} `{name}`, {}", count(content.len(), "byte", "bytes"));
    done.push_str(&other_names(links));
    let diff = difference(&name, &found, &content, diff::IN_AN_ANSWER);
    Ok(answer(&done, content.as_bytes(), &diff))
}

/// The content of the file before the call.
enum OldContent {
    Nothing,
    /// The file is too large or not readable. It is replaced anyway.
    Unread,
    Content(Vec<u8>),
}

fn now(workspace: &Workspace, name: &Name, must_be_read: bool) -> Result<OldContent, ToolError> {
    match workspace.read_named(name) {
        Ok(bytes) => Ok(OldContent::Content(bytes)),
        Err(error) => match error.kind() {
            "not_found" => Ok(OldContent::Nothing),
            "file_too_large" | "permission_denied" if !must_be_read => Ok(OldContent::Unread),
            _ => Err(error),
        },
    }
}

/// Makes the diff to an existing text. A new file has no diff, because its lines are in the call.
fn difference(name: &Name, found: &OldContent, content: &str, most: usize) -> String {
    match found {
        OldContent::Nothing => String::new(),
        OldContent::Unread => "[what was there was not read]".to_owned(),
        OldContent::Content(before) => match decode(name, before) {
            Ok(text) => diff::between(&text.text, content, most),
            Err(_) => "[what was there is binary]".to_owned(),
        },
    }
}
