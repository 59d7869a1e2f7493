//! `glob` finds files by their paths.
//!
//! # What it does
//! It answers with the files whose path, relative to the searched folder, matches a pattern: one path per line, newest first.
//! `*` and `?` match within one name, `**` any number of folders, `{a,b}` either alternative, `[a-z]` a character. Hidden
//! files, and those that `.gitignore` names, are left out unless they are asked for.
//!
//! # What it may touch
//! It reads the folder that `path` names, and those below it. Links below that folder are not followed.
//!
//! # What it refuses
//! Paths that lead out of the workspace; names of files; invalid patterns.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use globset::{GlobBuilder, GlobMatcher};
use toolwright::{ToolContext, ToolError, tool};

use super::notes::{count, lock, unreadable};
use crate::Workspace;
use crate::workspace::{Name, Walk};

/// Find files by a pattern of their paths, the newest first: `**/*.rs` finds all Rust sources, `src/*.{ts,tsx}` those in one
/// folder. Hidden files and those that `.gitignore` names are left out.
#[tool(unlinked, group = "file", danger = safe, effect = read, reads(file = path), blocking)]
pub fn glob(
    workspace: &Workspace,
    context: &ToolContext,
    /// The pattern, which the whole path below `path` has to match.
    #[arg(length = 1..=1000, example = "**/*.rs", positional)]
    pattern: String,
    /// Folder to search, relative to the workspace; the workspace itself when absent.
    #[arg(default = ".")]
    path: String,
    /// Whether hidden files and those that `.gitignore` names are found as well.
    #[arg(default = false)]
    include_ignored: bool,
    /// How many paths to answer at the most.
    #[arg(default = 200, minimum = 1, maximum = 10_000)]
    limit: usize,
) -> Result<String, ToolError> {
    let matcher = compile("pattern", &pattern)?;
    let folder = Name::parse(&path)?;
    let walk = Walk { workspace, context, include_ignored, depth: None };
    let (files, vanished) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    let missed = walk.folder_at_once(&folder, || {
        let (matcher, files, vanished) = (&matcher, &files, &vanished);
        move |found| {
            if !matcher.is_match(&found.relative) {
                return;
            }
            let seen = found.modified.map(Some).map_or_else(|| workspace.modified(&found.name), Ok);
            let Ok(modified) = seen else {
                vanished.fetch_add(1, Ordering::Relaxed);
                return;
            };
            // If the file system has no modification times, sort by name.
            lock(files).push((Reverse(modified), found.name));
        }
    })?;
    let mut files = files.into_inner().unwrap_or_else(PoisonError::into_inner);
    let missed = missed + vanished.into_inner();
    files.sort();
    let more = files.len().saturating_sub(limit);
    let mut lines: Vec<String> =
        files.into_iter().take(limit).map(|(_, name)| name.to_string()).collect();
    if lines.is_empty() {
        let anywhere = match pattern.contains('/') || pattern.starts_with("**") {
            true => String::new(),
            false => format!("; in all folders below it looks `**/{pattern}`"),
        };
        lines.push(format!("no file below `{folder}` matches `{pattern}`{anywhere}"));
    }
    if more > 0 {
        let more = count(more, "more file", "more files");
        lines.push(format!("[{more}, which are older: narrow the pattern, or raise `limit`]"));
    }
    lines.extend(unreadable(missed));
    Ok(lines.join("\n"))
}

/// Compiles a pattern for paths, in which `*` and `?` do not match `/`.
pub(super) fn compile(parameter: &str, pattern: &str) -> Result<GlobMatcher, ToolError> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| {
        let message = format!("`{parameter}` is not a valid path pattern: {}", error.kind());
        ToolError::invalid(message).hint("write one such as `**/*.rs` or `src/*.{ts,tsx}`")
    })?;
    Ok(glob.compile_matcher())
}

/// Compiles the parameter `glob`: it matches names, or whole paths if it contains a `/`.
pub(super) fn compiled_name(glob: &str) -> Result<GlobMatcher, ToolError> {
    match glob.contains('/') {
        true => compile("glob", glob),
        false => compile("glob", &format!("**/{glob}")),
    }
}
