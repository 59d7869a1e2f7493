//! `apply_patch` applies a unified diff over several files.
//!
//! # What it does
//! It changes, creates, deletes, renames and copies files, all of them or none, as `git apply` does. A hunk whose lines have
//! moved is applied if they occur in one place only. Encodings, modes and line ends are preserved, also a missing line end of
//! the last line; the patch may set or clear the executable bit. It answers with a line for each file, the hash of its new content,
//! and a short diff.
//!
//! It repairs some mistakes of models that `git apply` refuses: a hunk with wrong line counts, or with `@@ ... @@` instead of
//! numbers, is applied if its lines fit in one place; other line ends than those of the file are replaced by these; and the
//! patch itself need not end with a line end if its last line is one of the file. The format of Codex models, from
//! `*** Begin Patch` to `*** End Patch`, is accepted as well.
//!
//! # What it may touch
//! It reads and writes the files that the patch names.
//!
//! # What it refuses
//! - A patch that cannot be parsed to its last line.
//! - A patch that may be truncated, because its last hunk has fewer lines than the header says, or because names have
//!   no hunk.
//! - Hunks that overlap, that fit nowhere or at several places, or whose lines are already there.
//! - A hunk without context before or after its change, unless it is at the beginning or the end of the file.
//! - Binary files, links, and names that lead out of the workspace.
//! - A new file that already exists, and a file that is named twice.
//! - A file whose content has another hash than in `expected_hashes`, or that another process changes meanwhile.
//!
//! One error lists all problems.

mod plan;

use std::fmt::Write as _;

use toolwright::{Output, Reconciled, ToolContext, ToolError, data, tool};

use super::diff;
use super::edit::other_names;
use super::notes::{Demand, count};
use super::patch::read;
use crate::Workspace;
use crate::workspace::content_hash;
use plan::{Plan, is_possible};

/// The hash that the content of a file must have.
#[data]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExpectedHash {
    /// Path relative to the workspace.
    pub path: String,
    /// The hash that `read_file` showed; `none` where there must be no file.
    pub hash: String,
}

impl ExpectedHash {
    /// Describes what a file must contain.
    #[must_use]
    pub fn new(path: impl Into<String>, hash: impl Into<String>) -> Self {
        Self { path: path.into(), hash: hash.into() }
    }
}

/// Apply a unified diff over one or several files, all or nothing: files are changed, made (`--- /dev/null`), deleted
/// (`+++ /dev/null`) and renamed (`rename from`, `rename to`). Lines that have moved are found where they stand in one place.
#[tool(
    unlinked,
    group = "file",
    danger = moderate,
    effect = once,
    reads(file = read_by(&patch)),
    writes(file = written_by(&patch)),
    blocking,
    preview = |workspace, patch, expected_hashes| -> Result<String, ToolError> {
        let plan = Plan::new(workspace, &patch, &expected_hashes.unwrap_or_default(), &Demand::always())?;
        Ok(plan.describe(diff::IN_A_PREVIEW))
    },
    reconcile = |workspace, patch| -> Result<Reconciled, ToolError> {
        let Ok(files) = read(&patch) else { return Ok(Reconciled::DidNotHappen) };
        let back: Vec<_> = files.iter().map(|file| file.reverse()).collect();
        Ok(match (is_possible(workspace, &files), is_possible(workspace, &back)) {
            (true, false) => Reconciled::DidNotHappen,
            (false, true) => Reconciled::Happened(Output::text("the files are as the patch makes them")),
            _ => Reconciled::Unknown,
        })
    }
)]
pub fn apply_patch(
    workspace: &Workspace,
    context: &ToolContext,
    /// The unified diff, with paths relative to the workspace; `a/` and `b/` before them are left out.
    #[arg(length = 1.., positional)]
    patch: String,
    /// The hashes that `read_file` showed, of files that must not have been changed since.
    expected_hashes: Option<Vec<ExpectedHash>>,
) -> Result<String, ToolError> {
    let wanted = Demand::of(context);
    let plan = Plan::new(workspace, &patch, &expected_hashes.unwrap_or_default(), &wanted)?;
    wanted.still()?;
    workspace.change(&plan.changes())?;
    Ok(format!(
        "applied the patch to {}\n{}",
        count(plan.files.len(), "file", "files"),
        plan.describe(diff::IN_AN_ANSWER)
    ))
}

/// Returns the files that a patch reads. A patch that cannot be parsed reads none, since it is refused before any file
/// is read.
fn read_by(patch: &str) -> Vec<String> {
    let files = read(patch).unwrap_or_default();
    files.iter().filter_map(|file| file.reads()).map(str::to_owned).collect()
}

/// Returns the files that a patch writes.
fn written_by(patch: &str) -> Vec<String> {
    let files = read(patch).unwrap_or_default();
    files.iter().flat_map(|file| file.writes()).map(str::to_owned).collect()
}

impl Plan {
    /// Describes the result for a model: a line for each file, then diffs with at most `most` lines together.
    fn describe(&self, most: usize) -> String {
        let (mut words, mut left) = (String::new(), most);
        for file in &self.files {
            let (added, removed) = file.counts;
            let (old, new) = (file.old.as_ref(), file.new.as_ref());
            // Writing to a `String` cannot fail.
            let _ = match (old, new) {
                (Some(old), Some(new)) if old == new => write!(words, "changed `{new}`"),
                (Some(old), Some(new)) if file.is_copy => {
                    write!(words, "copied `{old}` to `{new}`")
                }
                (Some(old), Some(new)) => write!(words, "renamed `{old}` to `{new}`"),
                (Some(old), None) => write!(words, "deleted `{old}`"),
                (None, Some(new)) => write!(words, "created `{new}`"),
                (None, None) => Ok(()),
            };
            let _ = write!(words, ", +{added} -{removed}{}", other_names(file.links));
            if let (Some(_), Some(content)) = (new, &file.after) {
                let _ = write!(words, "; hash {}", content_hash(content));
            }
            words.push('\n');
            // Show no diff for a created or deleted file: its lines are in the call.
            if let (Some((before, after)), Some(_), Some(_)) = (&file.texts, old, new) {
                let diff = diff::between(before, after, left);
                left = left.saturating_sub(diff.lines().count());
                if !diff.is_empty() {
                    let _ = writeln!(words, "{diff}");
                }
            }
        }
        words.truncate(words.trim_end().len());
        words
    }
}
