//! Finds the worktree of a ticket, or makes it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::{output, printed};

/// Why there is no worktree to work in.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    #[error("git says: {0}")]
    Git(String),
    #[error("`{}` is on the branch `{found}`, expected `{expected}`; a person has changed it: change back, or move what is there away", .folder.display())]
    OtherBranch { folder: PathBuf, found: String, expected: String },
    #[error("`{}` exists and is not a worktree of the repository; move it away", .folder.display())]
    Foreign { folder: PathBuf },
    #[error("the worktree `{}` cannot be looked at: {source}", .folder.display())]
    Io { folder: PathBuf, source: io::Error },
}

/// Finds the worktree of a branch in a folder, or makes it from `base`. Uncommitted changes stay as they are. A
/// worktree that was removed is made again from its branch; git refuses if a person has locked it.
///
/// # Errors
/// When git refuses, or the folder holds something else.
pub fn find_or_make(
    repository: &Path,
    folder: &Path,
    branch: &str,
    base: &str,
) -> Result<(), WorktreeError> {
    let failed = |source| WorktreeError::Io { folder: folder.to_owned(), source };
    let git = |place: &Path, arguments: &[&str]| -> Result<String, WorktreeError> {
        printed(&output(place, arguments, &[]).map_err(failed)?).map_err(WorktreeError::Git)
    };
    if folder.is_dir() && fs::read_dir(folder).map_err(failed)?.next().is_some() {
        if !is_own(repository, folder, git) {
            return Err(WorktreeError::Foreign { folder: folder.to_owned() });
        }
        let found = git(folder, &["branch", "--show-current"])?;
        if found != branch {
            let (folder, expected) = (folder.to_owned(), branch.to_owned());
            return Err(WorktreeError::OtherBranch { folder, found, expected });
        }
        return Ok(());
    }
    // Take a lock: another runner's `prune` would remove a worktree that `add` has not finished here.
    let common = git(repository, &["rev-parse", "--path-format=absolute", "--git-common-dir"])?;
    let alone = File::create(Path::new(&common).join("board-worktrees.lock")).map_err(failed)?;
    alone.lock().map_err(failed)?;
    git(repository, &["worktree", "prune"])?;
    let path = folder.to_string_lossy();
    let known = format!("refs/heads/{branch}");
    match git(repository, &["rev-parse", "--verify", "--quiet", &known]).is_ok() {
        true => git(repository, &["worktree", "add", "--quiet", "--", &path, branch])?,
        false => git(repository, &["worktree", "add", "--quiet", "-b", branch, "--", &path, base])?,
    };
    Ok(())
}

/// Returns whether the folder is the top of a worktree of this repository.
fn is_own(
    repository: &Path,
    folder: &Path,
    git: impl Fn(&Path, &[&str]) -> Result<String, WorktreeError>,
) -> bool {
    let real = |found: Result<String, WorktreeError>| Path::new(&found.ok()?).canonicalize().ok();
    let top = real(git(folder, &["rev-parse", "--show-toplevel"]));
    let common =
        |place| real(git(place, &["rev-parse", "--path-format=absolute", "--git-common-dir"]));
    let shared = common(folder);
    top.is_some()
        && top == folder.canonicalize().ok()
        && shared.is_some()
        && shared == common(repository)
}
