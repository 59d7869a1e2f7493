//! `search_files` finds lines that contain a text. It reads the files below a folder, passes over
//! those that are no text, and refuses paths that lead out of the workspace.

use toolwright::{ToolError, tool};

use crate::workspace::Workspace;

/// The lines that were found.
#[toolwright::data]
pub struct Found {
    matches: Vec<Match>,
    /// Whether there are more than were asked for.
    more: bool,
}

/// One line.
#[toolwright::data]
pub struct Match {
    path: String,
    line: usize,
    text: String,
}

/// Find lines that contain a text, taken literally.
#[tool(group = "file", danger = safe, effect = read, reads(file = path), blocking)]
pub fn search_files(
    workspace: &Workspace,
    /// The text to look for.
    #[arg(length = 1..=200)]
    pattern: String,
    /// Folder to search, relative to the workspace.
    #[arg(default = ".")]
    path: String,
    /// How many lines to return at the most.
    #[arg(default = 20, minimum = 1, maximum = 200)]
    limit: usize,
) -> Result<Found, ToolError> {
    let folder = workspace.existing(&path)?;
    let mut matches = Vec::new();
    for file in workspace.files(&folder, usize::MAX)? {
        let Ok(content) = std::fs::read_to_string(&file) else { continue };
        let lines = content.lines().enumerate().filter(|(_, line)| line.contains(&pattern));
        for (index, line) in lines {
            if matches.len() == limit {
                return Ok(Found { matches, more: true });
            }
            matches.push(Match {
                path: workspace.relative(&file),
                line: index + 1,
                text: line.trim().to_owned(),
            });
        }
    }
    Ok(Found { matches, more: false })
}
