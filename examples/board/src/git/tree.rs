//! Computes the git tree id of a worktree. Worktrees with equal files have equal ids, whether the files are committed
//! or not.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{output, printed};

/// Why the tree id cannot be computed.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    #[error("git says: {0}")]
    Git(String),
    #[error("git was not started, or a temporary file not written: {0}")]
    Io(#[from] io::Error),
}

/// Returns the id of the tree that a commit of all files in the folder would have, without ignored files. The function
/// writes to a temporary folder, but not to the repository.
///
/// # Errors
/// When the folder belongs to no repository, or git fails.
pub fn tree(folder: &Path) -> Result<String, TreeError> {
    let git = |arguments: &[&str], more: &[(&str, &OsStr)]| {
        printed(&output(folder, arguments, more)?).map_err(TreeError::Git)
    };
    let path = |what| -> Result<PathBuf, TreeError> {
        Ok(folder.join(git(&["rev-parse", "--git-path", what], &[])?))
    };
    let scratch = tempfile::tempdir()?;
    let (index, objects) = (scratch.path().join("index"), scratch.path().join("objects"));
    fs::create_dir(&objects)?;
    let own = path("index")?;
    // A copy of the index has the modification times of known files, so git reads only changed files. A new repository
    // has no index.
    if own.try_exists()? {
        fs::copy(own, &index)?;
    }
    let known = path("objects")?.canonicalize()?;
    let scratch: [(&str, &OsStr); 3] = [
        ("GIT_INDEX_FILE", index.as_os_str()),
        ("GIT_OBJECT_DIRECTORY", objects.as_os_str()),
        ("GIT_ALTERNATE_OBJECT_DIRECTORIES", known.as_os_str()),
    ];
    git(&["add", "--all", "--", ":/"], &scratch)?;
    git(&["write-tree"], &scratch)
}
