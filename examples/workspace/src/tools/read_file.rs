//! `read_file` reads lines of a text file. It touches that file alone and refuses paths that lead
//! out of the workspace, folders, and files that are no text.

use toolwright::{File, ResourceKind as _, ToolError, tool};
use toolwright_toolbox::Workspace;

/// Some lines of a file.
#[toolwright::data]
pub struct FileSlice {
    /// The file, relative to the workspace.
    path: String,
    /// The first line, counted from 1.
    first_line: usize,
    /// How many lines the file has.
    total_lines: usize,
    /// The lines.
    text: String,
}

/// Read part of a text file.
#[tool(group = "file", danger = safe, effect = read, reads(file = path), blocking)]
pub fn read_file(
    workspace: &Workspace,
    /// Path relative to the workspace.
    #[arg(example = "README.md")]
    path: String,
    /// First line to return, counted from 1.
    #[arg(default = 1, minimum = 1)]
    offset: usize,
    /// How many lines to return; all when absent.
    #[arg(minimum = 1)]
    limit: Option<usize>,
) -> Result<FileSlice, ToolError> {
    let content = workspace.read_text(&path)?;
    let total_lines = content.lines().count();
    if offset > total_lines.max(1) {
        return Err(ToolError::invalid(format!(
            "`{path}` has {total_lines} lines, none is number {offset}"
        )));
    }
    let lines = content.lines().skip(offset - 1).take(limit.unwrap_or(usize::MAX));
    let text = lines.collect::<Vec<_>>().join("\n");
    Ok(FileSlice { path: File::normalise(&path), first_line: offset, total_lines, text })
}
