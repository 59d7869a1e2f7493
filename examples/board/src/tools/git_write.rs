//! `git_write` changes the repository.
//!
//! # What it does
//! It commits named files, makes a branch and checks it out, or pushes a branch. It answers with the exit code and
//! git's output. A commit that git refuses is not a success.
//!
//! # What it may touch
//! It writes the repository, and reads the worktree.
//!
//! # What it refuses
//! Names that git could read as a flag; commits without files or message; files outside of the workspace. It asks a
//! person before it makes a branch, since the worktree then leaves the ticket's branch, and before it pushes.

use toolwright::runtime::ProcessOutput;
use toolwright::toolbox::Workspace;
use toolwright::{ToolError, tool};

use crate::git::{self, GitChange, Repository};

/// Change the git repository: commit files, make a branch, or push one. An exit code other than 0 is a result, and means that
/// nothing new was committed, made or pushed: the change failed, or it was there before, for instance because the call is repeated.
#[tool(
    unlinked, group = "git", effect = idempotent, danger = change.danger(), approval = change.approval(),
    reads(file = "."), writes(Repository = "own"), timeout = none
)]
pub async fn git_write(
    workspace: &Workspace,
    /// What to change.
    change: GitChange,
) -> Result<ProcessOutput, ToolError> {
    let steps = change.steps().map_err(ToolError::invalid)?;
    git::run(workspace.root(), &steps).await
}
