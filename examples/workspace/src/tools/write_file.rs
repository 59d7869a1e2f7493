//! `write_file` writes a whole file. It touches only that file and the folders above it. It refuses paths that lead
//! out of the workspace and, by default, files that exist.

use toolwright::{ToolError, tool};
use toolwright_toolbox::Workspace;

/// What to do when the file exists.
#[toolwright::data]
#[serde(rename_all = "snake_case")]
#[derive(Clone, Copy, Default, PartialEq)]
pub enum OnConflict {
    /// Refuse.
    #[default]
    Error,
    /// Replace it.
    Overwrite,
}

/// Write a text file. Fails when it exists, unless `on_conflict` says otherwise.
#[tool(group = "file", danger = moderate, effect = idempotent, writes(file = path), blocking)]
pub fn write_file(
    workspace: &Workspace,
    /// Path relative to the workspace; missing folders are made.
    path: String,
    /// The whole text of the file.
    content: String,
    /// What to do when the file exists.
    #[arg(default)]
    on_conflict: OnConflict,
) -> Result<String, ToolError> {
    if on_conflict == OnConflict::Error && workspace.exists(&path)? {
        return Err(ToolError::new("path_conflict", format!("`{path}` exists")).hint(
            "read it with `read_file`, or write again with `on_conflict` set to `overwrite`",
        ));
    }
    workspace.write(&path, content.as_bytes())?;
    Ok(format!("wrote {} bytes to {path}", content.len()))
}
