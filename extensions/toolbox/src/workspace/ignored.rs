//! The ignore rules below a folder of this machine. They are read when a walk reaches their folder, through the handle
//! of the workspace. Only the exclude rules of a git worktree are read by path, because they are in another folder.

use std::collections::HashMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use cap_fs_ext::OpenOptionsSyncExt as _;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions};

use super::rules::{OfFolder, ignores, rules_of};

/// The most bytes of a file with rules that are read: 4 MiB.
const LARGEST: u64 = 4 << 20;

/// The rules below the folder where a walk begins.
pub(super) struct IgnoreRules {
    /// The handle of the workspace, and its path.
    folder: Dir,
    root: PathBuf,
    top: PathBuf,
    seen: RwLock<HashMap<PathBuf, Option<Arc<Rules>>>>,
}

/// The rules of a folder, and those of the next folder above it that has rules.
struct Rules {
    own: OfFolder,
    above: Option<Arc<Rules>>,
}

impl IgnoreRules {
    pub(super) fn below(top: &Path, folder: &Dir, root: &Path) -> io::Result<Self> {
        let (top, root) = (top.to_owned(), root.to_owned());
        Ok(Self { folder: folder.try_clone()?, root, top, seen: RwLock::default() })
    }

    /// Returns whether a path is ignored. The caller has to check the folders above it first.
    pub(super) fn has(&self, path: &Path, is_folder: bool) -> bool {
        let rules = path.parent().and_then(|folder| self.rules(folder));
        let above = std::iter::successors(rules.as_deref(), |rules| rules.above.as_deref());
        ignores(above.map(|rules| &rules.own), path, is_folder)
    }

    fn rules(&self, folder: &Path) -> Option<Arc<Rules>> {
        if let Some(rules) = self.seen.read().unwrap_or_else(PoisonError::into_inner).get(folder) {
            return rules.clone();
        }
        let above = match folder == self.top {
            true => None,
            false => folder.parent().and_then(|above| self.rules(above)),
        };
        let own = self.read(folder);
        let rules = if own.is_empty() { above } else { Some(Arc::new(Rules { own, above })) };
        let mut seen = self.seen.write().unwrap_or_else(PoisonError::into_inner);
        seen.insert(folder.to_owned(), rules.clone());
        rules
    }

    fn read(&self, folder: &Path) -> OfFolder {
        let Ok(inside) = folder.strip_prefix(&self.root) else { return OfFolder::default() };
        let of = |name: &str| self.text(&inside.join(name)).and_then(|it| rules_of(folder, &it));
        let is_repository = self.folder.symlink_metadata(inside.join(".git")).is_ok();
        let exclude = is_repository.then(|| match of(".git/info/exclude") {
            None => rules_of(folder, &self.exclude_of_worktree(folder, &inside.join(".git"))?),
            rules => rules,
        });
        let exclude = exclude.flatten();
        OfFolder { ignore: of(".ignore"), git: of(".gitignore"), exclude, is_repository }
    }

    fn text(&self, name: &Path) -> Option<String> {
        text_of(self.folder.open_with(name, &for_reading()).ok()?)
    }

    /// Returns the exclude rules of a git worktree. The file `.git` in the worktree names the worktree's own git
    /// folder, which names the repository.
    fn exclude_of_worktree(&self, folder: &Path, git: &Path) -> Option<String> {
        let text = self.text(git)?;
        let own = folder.join(text.strip_prefix("gitdir: ")?.trim_end());
        // A program may have written the file `.git`, so these paths may be those of devices or FIFOs.
        let read = |path: PathBuf| {
            text_of(File::open_ambient_with(path, &for_reading(), ambient_authority()).ok()?)
        };
        let repository = own.join(read(own.join("commondir"))?.trim_end());
        read(repository.join("info/exclude"))
    }
}

/// Returns options that do not block: opening a FIFO would wait for its writer.
fn for_reading() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).nonblock(true);
    options
}

/// Returns the text of a file with rules, up to [`LARGEST`]. Anything but a regular file has no text.
fn text_of(file: File) -> Option<String> {
    let mut text = Vec::new();
    if file.metadata().ok()?.is_file() {
        file.take(LARGEST).read_to_end(&mut text).ok()?;
    }
    Some(String::from_utf8_lossy(&text).into_owned())
}
