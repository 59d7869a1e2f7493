//! `project_info` shows the project of the run.
//!
//! # What it does
//! It answers with the address of the repository, the language, the branch from which tickets branch off, and the persona.
//!
//! # What it may touch
//! It reads the board.
//!
//! # What it refuses
//! Nothing.

use serde::Serialize;
use toolwright::{Output, ToolError, tool};

use super::current::CurrentTicket;
use super::shown::pretty;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    name: String,
    repo_url: Option<String>,
    language: Option<String>,
    branch: String,
    persona: String,
}

/// Read what the project is that you work for: its repository, language, main branch and persona.
#[tool(unlinked, group = "board", effect = read, reads(), blocking)]
pub fn project_info(ticket: &CurrentTicket) -> Result<Output, ToolError> {
    let found = ticket.board.project(ticket.project)?;
    pretty(&Shown {
        name: found.name,
        // The agent does not need the repository's folder, because it works in a worktree.
        repo_url: found.url,
        language: found.language,
        branch: found.branch,
        persona: found.persona,
    })
}
