//! What stands below a folder, by git's rules for what is ignored. The rules come from `ignore`, which lists by path; each
//! name is looked up through the handle of the workspace before it counts.

use std::ffi::OsStr;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use cap_std::fs::Metadata;
use ignore::{DirEntry, WalkBuilder, WalkState};
use toolwright::{Class, ToolContext, ToolError};

use super::{Name, Workspace, failed};

/// What a search looks at.
pub(crate) struct Walk<'w> {
    pub(crate) workspace: &'w Workspace,
    pub(crate) context: &'w ToolContext,
    /// Whether hidden files and those that ignore rules name are found as well.
    pub(crate) include_ignored: bool,
    /// How many levels of folders it goes down.
    pub(crate) depth: Option<usize>,
}

/// One file or folder that was found.
pub(crate) struct Found {
    /// Relative to the workspace.
    pub(crate) name: Name,
    /// Relative to the folder that was searched; of a file that was searched itself, its name.
    pub(crate) relative: String,
    /// Of what itself stands there: of a link that of the link.
    pub(crate) metadata: Metadata,
}

impl Workspace {
    /// The files below a folder, relative to the workspace and in the order of their names, down to `depth` levels of
    /// folders. Left out are hidden files, those that git ignores, links, and what cannot be read.
    ///
    /// ```
    /// use toolwright::ToolContext;
    /// use toolwright_toolbox::Workspace;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path();
    /// let workspace = Workspace::open(folder)?;
    /// for file in [".gitignore", "README.md", "src/lib.rs", "target/lib.d"] {
    ///     workspace.write(file, b"target\n")?;
    /// }
    /// assert_eq!(workspace.files(&ToolContext::test(), ".", 9)?, ["README.md", "src/lib.rs"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the path leads out of the workspace (`outside_workspace`), there is no such folder, or the call is cancelled
    /// meanwhile.
    #[cfg_attr(docsrs, doc(cfg(feature = "files")))]
    pub fn files(
        &self,
        context: &ToolContext,
        folder: &str,
        depth: usize,
    ) -> Result<Vec<String>, ToolError> {
        let walk = Walk { workspace: self, context, include_ignored: false, depth: Some(depth) };
        let mut files = Vec::new();
        walk.each(&Name::parse(folder)?, |found| {
            if found.metadata.is_file() {
                files.push(found.name.to_string());
            }
            Ok(())
        })?;
        Ok(files)
    }
}

/// One entry that a search on several threads came by; of a file it has not been opened.
pub(crate) struct Listed {
    pub(crate) name: Name,
    pub(crate) relative: String,
}

impl Walk<'_> {
    /// Gives the files below a folder to what `worker` makes for each of several threads, in no order, or the one file
    /// that `start` names. Links are left out. Returns how many entries could not be read.
    pub(crate) fn files_at_once<E>(
        &self,
        start: &Name,
        worker: impl Fn() -> E + Sync,
    ) -> Result<usize, ToolError>
    where
        E: FnMut(Listed) + Send,
    {
        let metadata = self.workspace.folder.metadata(start);
        let metadata = metadata.map_err(|error| failed(start, error))?;
        if !metadata.is_dir() {
            let relative = Path::new(start.as_str()).file_name().unwrap_or_default();
            let relative = relative.to_string_lossy().into_owned();
            worker()(Listed { name: start.clone(), relative });
            return Ok(0);
        }
        self.folder_at_once(start, worker)
    }

    /// As [`files_at_once`](Self::files_at_once) does, and refuses what is no folder.
    pub(crate) fn folder_at_once<E>(
        &self,
        start: &Name,
        worker: impl Fn() -> E + Sync,
    ) -> Result<usize, ToolError>
    where
        E: FnMut(Listed) + Send,
    {
        let route = Route::new(self.workspace, start)?;
        for builder in [route.beginning_at_root(self), route.beginning_at_start(self)] {
            let (missed, is_seen) = (AtomicUsize::new(0), AtomicBool::new(false));
            builder.build_parallel().run(|| {
                let mut each = worker();
                let (missed, is_seen, route) = (&missed, &is_seen, &route);
                Box::new(move |entry| {
                    if self.context.is_cancelled() {
                        return WalkState::Quit;
                    }
                    match route.step(start, entry) {
                        Step::Passed => {}
                        Step::Start => is_seen.store(true, Ordering::Relaxed),
                        Step::Missed => {
                            missed.fetch_add(1, Ordering::Relaxed);
                        }
                        Step::Entry { name, relative, is_file: true } => {
                            each(Listed { name, relative })
                        }
                        Step::Entry { .. } => {}
                    }
                    WalkState::Continue
                })
            });
            self.is_wanted()?;
            if is_seen.into_inner() {
                return Ok(missed.into_inner());
            }
        }
        Ok(0)
    }

    /// Gives what is below a folder to `each`, in the order of the names, and returns how much could not be read.
    pub(crate) fn each(
        &self,
        start: &Name,
        mut each: impl FnMut(Found) -> Result<(), ToolError>,
    ) -> Result<usize, ToolError> {
        let folder = &self.workspace.folder;
        let route = Route::new(self.workspace, start)?;
        for mut builder in [route.beginning_at_root(self), route.beginning_at_start(self)] {
            let (mut missed, mut is_seen) = (0, false);
            for entry in builder.sort_by_file_name(OsStr::cmp).build() {
                self.is_wanted()?;
                match route.step(start, entry) {
                    Step::Passed => {}
                    Step::Start => is_seen = true,
                    Step::Missed => missed += 1,
                    Step::Entry { name, relative, .. } => match folder.symlink_metadata(&name) {
                        Ok(metadata) => each(Found { name, relative, metadata })?,
                        // It vanished, or the folder that was listed is no longer the one inside.
                        Err(_) => missed += 1,
                    },
                }
            }
            if is_seen {
                return Ok(missed);
            }
        }
        Ok(0)
    }

    fn is_wanted(&self) -> Result<(), ToolError> {
        if self.context.is_cancelled() {
            let message = "the search was cancelled before its end";
            return Err(ToolError::new("cancelled", message).class(Class::Cancelled));
        }
        Ok(())
    }
}

/// The way from the workspace's folder to the one that is searched. The rules of the folders on it count, and no rule of a
/// folder above the workspace or of the user's configuration.
struct Route {
    root: PathBuf,
    start: PathBuf,
    depth: usize,
}

/// What an entry is to a search.
enum Step {
    /// A folder on the way.
    Passed,
    /// The folder that is searched.
    Start,
    Entry {
        name: Name,
        relative: String,
        is_file: bool,
    },
    /// It cannot be read, or its name is not UTF-8.
    Missed,
}

impl Route {
    fn new(workspace: &Workspace, start: &Name) -> Result<Self, ToolError> {
        let root = workspace.real_folder(&Name::root())?;
        let start = workspace.real_folder(start)?;
        let depth = start.strip_prefix(&root).map_or(0, |inside| inside.iter().count());
        Ok(Self { root, start, depth })
    }

    /// The walk that begins at the workspace and goes nowhere else.
    fn beginning_at_root(&self, walk: &Walk<'_>) -> WalkBuilder {
        let mut builder = self.builder(walk, &self.root);
        builder.max_depth(walk.depth.map(|depth| depth.saturating_add(self.depth)));
        let (start, shows_hidden) = (self.start.clone(), walk.include_ignored);
        // The caller has named the folders on the way: that one of them is hidden does not leave it out.
        builder.hidden(false).filter_entry(move |entry| {
            let (path, name) = (entry.path(), entry.file_name());
            let is_hidden = name.as_encoded_bytes().starts_with(b".");
            name != ".git"
                && (start.starts_with(path)
                    || (path.starts_with(&start) && (shows_hidden || !is_hidden)))
        });
        builder
    }

    /// The walk through a folder that the first one does not reach, because a rule names it: the caller has named it.
    fn beginning_at_start(&self, walk: &Walk<'_>) -> WalkBuilder {
        let mut builder = self.builder(walk, &self.start);
        builder.max_depth(walk.depth).filter_entry(|entry| entry.file_name() != ".git");
        builder
    }

    fn builder(&self, walk: &Walk<'_>, from: &Path) -> WalkBuilder {
        let mut builder = WalkBuilder::new(from);
        // A copy of a folder without its `.git` is searched like the folder.
        builder
            .standard_filters(!walk.include_ignored)
            .parents(false)
            .git_global(false)
            .require_git(false);
        builder
    }

    fn step(&self, start: &Name, entry: Result<DirEntry, ignore::Error>) -> Step {
        let Ok(entry) = entry else { return Step::Missed };
        let Ok(relative) = entry.path().strip_prefix(&self.start) else { return Step::Passed };
        let is_file = entry.file_type().is_some_and(|it| it.is_file());
        let Some(relative) = relative.to_str() else { return Step::Missed };
        if relative.is_empty() {
            return Step::Start;
        }
        let relative = match MAIN_SEPARATOR {
            '/' => relative.to_owned(),
            other => relative.replace(other, "/"),
        };
        Step::Entry { name: start.below(&relative), relative, is_file }
    }
}
