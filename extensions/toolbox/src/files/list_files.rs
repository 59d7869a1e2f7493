//! `list_files` lists the files and folders below a folder.
//!
//! # What it does
//! It answers with one path per line, relative to the workspace, sorted by name; a folder ends with `/`. A pattern
//! selects files by their names or paths, and the size of each file is shown if asked for. Hidden files, and those that
//! `.gitignore`, `.ignore` or `.git/info/exclude` in the workspace names, are left out unless they are asked for;
//! `.git` is always left out. The folder given as `path` is listed even if it is ignored. Rules of folders above the
//! workspace and of the user's configuration are not applied.
//!
//! # What it may touch
//! It reads the folder that `path` names, and those below it. Links below that folder are listed but not followed.
//!
//! # What it refuses
//! Paths that lead out of the workspace; names of files; invalid patterns.

use toolwright::{ToolContext, ToolError, tool};

use super::glob::compiled_name;
use super::notes::{count, unreadable};
use crate::Workspace;
use crate::workspace::{Kind, Name, Walk};

/// List the files and folders below a folder. Hidden files and those that `.gitignore` names are left out.
#[tool(unlinked, group = "file", danger = safe, effect = read, reads(file = path), blocking)]
#[expect(clippy::too_many_arguments, reason = "each is a key of the input, which a model reads")]
pub fn list_files(
    workspace: &Workspace,
    context: &ToolContext,
    /// Folder relative to the workspace; the workspace itself when absent.
    #[arg(default = ".", positional)]
    path: String,
    /// Pattern of the files to list, such as `*.{ts,tsx}`: of their names, or of their paths below `path` where it has a `/`.
    /// Folders are then left out.
    #[arg(length = 1..=1000)]
    glob: Option<String>,
    /// How many levels of folders to go down.
    #[arg(default = 3, minimum = 1, maximum = 100)]
    depth: usize,
    /// Whether the size of each file is shown, in bytes.
    #[arg(default = false)]
    sizes: bool,
    /// Whether hidden files and those that `.gitignore` names are listed as well.
    #[arg(default = false)]
    include_ignored: bool,
    /// How many paths to answer at the most.
    #[arg(default = 500, minimum = 1, maximum = 10_000)]
    limit: usize,
) -> Result<String, ToolError> {
    let folder = Name::parse(&path)?;
    let wanted = glob.as_deref().map(compiled_name).transpose()?;
    let walk = Walk { workspace, context, include_ignored, depth: Some(depth) };
    let (mut lines, mut more) = (Vec::new(), 0);
    let missed = walk.each(&folder, |found| {
        let is_folder = found.kind == Kind::Folder;
        if wanted.as_ref().is_some_and(|it| is_folder || !it.is_match(&found.relative)) {
            return Ok(());
        }
        if lines.len() == limit {
            more += 1;
        } else if sizes && found.kind == Kind::File {
            lines.push(format!("{}\t{}", found.name, found.size));
        } else {
            lines.push(format!("{}{}", found.name, if is_folder { "/" } else { "" }));
        }
        Ok(())
    })?;
    if lines.is_empty() {
        lines.push(match (&glob, include_ignored) {
            (Some(glob), _) => format!("no file below `{folder}` matches `{glob}`"),
            (None, true) => format!("`{folder}` is empty"),
            (None, false) => format!("`{folder}` has no files that are neither hidden nor ignored"),
        });
    }
    if more > 0 {
        let more = count(more, "more path", "more paths");
        lines.push(format!("[{more}: list a folder below, or raise `limit`]"));
    }
    lines.extend(unreadable(missed));
    Ok(lines.join("\n"))
}
