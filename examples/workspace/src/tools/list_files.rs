//! `list_files` lists the files below a folder. It reads folders and refuses paths that lead out of
//! the workspace.

use toolwright::{ToolContext, ToolError, tool};
use toolwright_toolbox::Workspace;

/// List the files below a folder. Hidden files and those that git ignores are left out.
#[tool(group = "file", danger = safe, effect = read, reads(file = path), blocking)]
pub fn list_files(
    workspace: &Workspace,
    context: &ToolContext,
    /// Folder relative to the workspace; the workspace itself when absent.
    #[arg(default = ".")]
    path: String,
    /// How many levels of folders to go down.
    #[arg(default = 2, minimum = 1, maximum = 16)]
    depth: usize,
) -> Result<Vec<String>, ToolError> {
    workspace.files(context, &path, depth)
}
