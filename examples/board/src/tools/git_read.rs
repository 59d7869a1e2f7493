//! `git_read` reads the repository.
//!
//! # What it does
//! It runs one git command that only reads, and answers with its exit code and its output. Settings of the repository
//! that start programs are switched off, except filters of files. No lock is taken, so that it changes nothing.
//!
//! # What it may touch
//! It reads the worktree and the repository.
//!
//! # What it refuses
//! Revisions that git could read as a flag, and paths that lead out of the workspace. Paths come after `--` and are
//! names, not patterns. Files that the policy calls secrets (`.env*`, `secrets/`) are left out, because a call that names
//! no path, or a folder, would show them with the rest.

use toolwright::runtime::ProcessOutput;
use toolwright::toolbox::Workspace;
use toolwright::{ToolError, tool};

use crate::git::{self, GitReading, Repository};

/// Look at the git repository: `status`, `diff` (what is not staged), `staged_diff`, `log`, `show` (a commit), `branches`. It
/// changes nothing. An exit code other than 0 is a result.
#[tool(unlinked, group = "git", effect = read, reads(file = read_by(&paths), Repository = "own"), timeout = none)]
pub async fn git_read(
    workspace: &Workspace,
    /// What to look at.
    operation: GitReading,
    /// A commit or a branch, for `diff`, `log` and `show`.
    #[arg(example = Some("HEAD~1".to_owned()))]
    revision: Option<String>,
    /// Only these paths, relative to the workspace; all unless given.
    #[arg(default, length = 0..=100)]
    paths: Vec<String>,
) -> Result<ProcessOutput, ToolError> {
    let arguments = operation.arguments(revision.as_deref(), &paths).map_err(ToolError::invalid)?;
    git::run(workspace.root(), &[arguments]).await
}

/// Returns the files that the operation reads: the given paths, or the whole workspace.
fn read_by(paths: &[String]) -> Vec<String> {
    match paths {
        [] => vec![".".to_owned()],
        paths => paths.to_vec(),
    }
}
