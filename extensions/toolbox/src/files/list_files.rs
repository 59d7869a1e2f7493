//! `list_files` lists the files and folders below a folder.
//!
//! # What it does
//! It answers with one path a line, relative to the workspace, in the order of their names; a folder ends with `/`. Hidden
//! files, and those that `.gitignore` names, are left out unless they are asked for; `.git` always is. Git's other rules count
//! as well: those of `.git/info/exclude`, of the folders above, and of the configuration of the user.
//!
//! # What it may touch
//! It reads the folder that `path` names, and those below it. Links are listed and not followed.
//!
//! # What it refuses
//! Paths that lead out of the workspace; names of files.

use toolwright::{ToolContext, ToolError, tool};

use super::notes::{counted, unreadable};
use crate::Workspace;
use crate::workspace::{Name, Walk};

/// List the files and folders below a folder. Hidden files and those that `.gitignore` names are left out.
#[tool(unlinked, group = "file", danger = safe, effect = read, reads(file = path), blocking)]
pub fn list_files(
    workspace: &Workspace,
    context: &ToolContext,
    /// Folder relative to the workspace; the workspace itself when absent.
    #[arg(default = ".", positional)]
    path: String,
    /// How many levels of folders to go down.
    #[arg(default = 3, minimum = 1, maximum = 100)]
    depth: usize,
    /// Whether hidden files and those that `.gitignore` names are listed as well.
    #[arg(default = false)]
    include_ignored: bool,
    /// How many paths to answer at the most.
    #[arg(default = 500, minimum = 1, maximum = 10_000)]
    limit: usize,
) -> Result<String, ToolError> {
    let folder = Name::parse(&path)?;
    let walk = Walk { workspace, context, include_ignored, depth: Some(depth) };
    let (mut lines, mut more) = (Vec::new(), 0);
    let missed = walk.each(&folder, |found| {
        if lines.len() == limit {
            more += 1;
        } else {
            let end = if found.metadata.is_dir() { "/" } else { "" };
            lines.push(format!("{}{end}", found.name));
        }
        Ok(())
    })?;
    if lines.is_empty() {
        lines.push(match include_ignored {
            true => format!("`{folder}` is empty"),
            false => format!("`{folder}` has no files that are neither hidden nor ignored"),
        });
    }
    if more > 0 {
        let more = counted(more, "more path", "more paths");
        lines.push(format!("[{more}: list a folder below, or raise `limit`]"));
    }
    lines.extend(unreadable(missed));
    Ok(lines.join("\n"))
}
