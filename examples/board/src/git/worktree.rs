//! Finds or makes the worktree of a ticket.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::{command, output, printed};

/// Why a ticket has no worktree.
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

/// Finds the worktree of a branch in a folder, or makes it from `base`. Uncommitted changes stay as they are. If the
/// worktree was removed, or git was killed while it made the worktree, it is made again from its branch. If a person
/// has locked it, git refuses.
///
/// # Errors
/// When git refuses, or the folder holds other files.
pub fn find_or_make(
    repository: &Path,
    folder: &Path,
    branch: &str,
    base: &str,
) -> Result<(), WorktreeError> {
    let failed = |source| WorktreeError::Io { folder: folder.to_owned(), source };
    let common = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
    let common = output(repository, common, &[]).map_err(failed)?;
    let common = PathBuf::from(printed(&common).map_err(WorktreeError::Git)?);
    if is_filled(folder).map_err(failed)? && !is_unfinished(&common, folder) {
        return check(repository, folder, branch);
    }
    // Take a lock: another runner's `prune` would remove a worktree that `add` has not finished.
    let lock = common.join("board-worktrees.lock");
    let lock = File::options().read(true).append(true).create(true).open(lock).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let git = |arguments: &[&str]| -> Result<String, WorktreeError> {
        // Git gets the lock too, because it continues if this process is killed.
        let input = lock.try_clone().map_err(failed)?;
        let ended = command(repository, arguments, &[]).stdin(input).output().map_err(failed)?;
        printed(&ended).map_err(WorktreeError::Git)
    };
    let path = folder.to_string_lossy();
    if is_unfinished(&common, folder) {
        // No work was done in this worktree. Git removes it only with two `--force`, because git has locked it.
        git(&["worktree", "remove", "--force", "--force", "--", &path])?;
    } else if is_filled(folder).map_err(failed)? {
        return check(repository, folder, branch);
    }
    git(&["worktree", "prune"])?;
    let known = format!("refs/heads/{branch}");
    match git(&["rev-parse", "--verify", "--quiet", &known]).is_ok() {
        true => git(&["worktree", "add", "--quiet", "--", &path, branch])?,
        false => git(&["worktree", "add", "--quiet", "-b", branch, "--", &path, base])?,
    };
    Ok(())
}

fn is_filled(folder: &Path) -> io::Result<bool> {
    Ok(folder.is_dir() && fs::read_dir(folder)?.next().is_some())
}

/// Returns whether git has not finished the worktree. Git locks a new worktree with the word `initializing` until all
/// of its files are there.
fn is_unfinished(common: &Path, folder: &Path) -> bool {
    let real = |path: &Path| {
        let parent = path.parent()?.canonicalize().ok()?;
        Some(parent.join(path.file_name()?))
    };
    let folder = real(folder);
    let known = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
    let read = |known: &fs::DirEntry, file| fs::read_to_string(known.path().join(file)).ok();
    let is_here = |known: &fs::DirEntry| {
        let file = read(known, "gitdir")?;
        Some(folder.is_some() && real(Path::new(file.trim()).parent()?) == folder)
    };
    let mut own = known.filter(|it| is_here(it).unwrap_or(false));
    own.any(|it| read(&it, "locked").is_some_and(|why| why.trim() == "initializing"))
}

/// Checks that an existing folder is the worktree of the branch.
fn check(repository: &Path, folder: &Path, branch: &str) -> Result<(), WorktreeError> {
    let failed = |source| WorktreeError::Io { folder: folder.to_owned(), source };
    let git = |place: &Path, arguments: &[&str]| -> Result<String, WorktreeError> {
        printed(&output(place, arguments, &[]).map_err(failed)?).map_err(WorktreeError::Git)
    };
    if !is_own(repository, folder, git) {
        return Err(WorktreeError::Foreign { folder: folder.to_owned() });
    }
    let found = git(folder, &["branch", "--show-current"])?;
    if found != branch {
        let (folder, expected) = (folder.to_owned(), branch.to_owned());
        return Err(WorktreeError::OtherBranch { folder, found, expected });
    }
    Ok(())
}

/// Returns whether the folder is the root of a worktree of this repository.
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
