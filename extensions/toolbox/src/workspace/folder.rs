//! Folders inside the workspace, and their real paths for interfaces that need a path.

use std::path::{Path, PathBuf};

use cap_std::fs::Metadata;
use toolwright::ToolError;

use super::links::text;
use super::local::LocalFiles;
use super::{Name, failed};

impl LocalFiles {
    /// Returns the real path of a folder in the workspace, for a program that runs there or for listing its content.
    pub(super) fn folder_path(&self, name: &Name) -> Result<PathBuf, ToolError> {
        let lookup = |error| failed(name, error);
        let inside = self.folder.canonicalize(name).map_err(lookup)?;
        text(name, &inside)?;
        let metadata = self.folder.metadata(&inside).map_err(lookup)?;
        if !metadata.is_dir() {
            let message = format!("`{name}` is a file, expected a folder");
            return Err(ToolError::new("not_a_directory", message));
        }
        let real = self.root.join(inside);
        if !is_same(&metadata, &real) {
            let message = "the folder of the workspace was moved or replaced after it was opened";
            return Err(ToolError::new("workspace_moved", message));
        }
        Ok(real)
    }
}

/// Whether a path leads to the same folder as the handle of the workspace.
#[cfg(unix)]
fn is_same(metadata: &Metadata, real: &Path) -> bool {
    use cap_std::fs::MetadataExt as Held;
    use std::os::unix::fs::MetadataExt as _;
    let held = (Held::dev(metadata), Held::ino(metadata));
    std::fs::metadata(real).is_ok_and(|found| (found.dev(), found.ino()) == held)
}

#[cfg(not(unix))]
fn is_same(_: &Metadata, real: &Path) -> bool {
    real.is_dir()
}
