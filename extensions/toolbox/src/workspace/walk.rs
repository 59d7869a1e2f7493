//! Lists the entries below a folder, with git's ignore rules. The library `ignore` lists by path; each name is looked
//! up again through the handle of the workspace before it is used.

use std::ffi::OsStr;
use std::io;
use std::path::{MAIN_SEPARATOR, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use cap_std::fs::Metadata;
use ignore::{DirEntry, WalkBuilder, WalkState};
use toolwright::ToolError;

use super::ignored::IgnoreRules;
use super::local::LocalFiles;
use super::sought::{FoundEntry, Kind, ListedEntry, SearchScope, Worker};
use super::{Name, failed};

impl LocalFiles {
    /// Calls functions with the files below a folder, in any order. `worker` makes a function for each of several
    /// threads. Links are left out. Returns how many entries could not be read.
    pub(super) fn walk_at_once<'a>(
        &self,
        start: &Name,
        sought: &SearchScope<'_>,
        worker: &(dyn Fn() -> Worker<'a> + Sync),
    ) -> Result<usize, ToolError> {
        let route = Route::new(self, start)?;
        for from in [Beginning::Root, Beginning::Start] {
            let builder =
                route.beginning_at(from, self, sought).map_err(|error| failed(start, error))?;
            let (missed, is_seen) = (AtomicUsize::new(0), AtomicBool::new(false));
            builder.build_parallel().run(|| {
                let mut each = worker();
                let (missed, is_seen, route) = (&missed, &is_seen, &route);
                Box::new(move |entry| {
                    if sought.context.is_cancelled() {
                        return WalkState::Quit;
                    }
                    match route.step(start, entry) {
                        Step::Passed => {}
                        Step::Start => is_seen.store(true, Ordering::Relaxed),
                        Step::Missed => {
                            missed.fetch_add(1, Ordering::Relaxed);
                        }
                        Step::Entry { name, relative, is_file: true } => {
                            each(ListedEntry { name, relative, modified: None })
                        }
                        Step::Entry { .. } => {}
                    }
                    WalkState::Continue
                })
            });
            sought.is_wanted()?;
            if is_seen.into_inner() {
                return Ok(missed.into_inner());
            }
        }
        Ok(0)
    }

    /// Calls `each` with the entries below a folder, sorted by name, and returns how many could not be read.
    pub(super) fn walk(
        &self,
        start: &Name,
        sought: &SearchScope<'_>,
        each: &mut dyn FnMut(FoundEntry) -> Result<(), ToolError>,
    ) -> Result<usize, ToolError> {
        let route = Route::new(self, start)?;
        for from in [Beginning::Root, Beginning::Start] {
            let builder = route.beginning_at(from, self, sought);
            let mut builder = builder.map_err(|error| failed(start, error))?;
            let (mut missed, mut is_seen) = (0, false);
            for entry in builder.sort_by_file_name(OsStr::cmp).build() {
                sought.is_wanted()?;
                match route.step(start, entry) {
                    Step::Passed => {}
                    Step::Start => is_seen = true,
                    Step::Missed => missed += 1,
                    Step::Entry { name, relative, .. } => match self.folder.symlink_metadata(&name)
                    {
                        Ok(metadata) => {
                            let (kind, size) = (kind(&metadata), metadata.len());
                            each(FoundEntry { name, relative, kind, size })?;
                        }
                        // The entry has vanished, or the listed folder is no longer the one in the workspace.
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
}

fn kind(metadata: &Metadata) -> Kind {
    match (metadata.is_file(), metadata.is_dir()) {
        (true, _) => Kind::File,
        (_, true) => Kind::Folder,
        _ => Kind::Other,
    }
}

/// The path from the folder of the workspace to the searched folder. Ignore rules in the folders on this path apply,
/// unless they ignore the searched folder. Rules of folders above the workspace and of the user's configuration do not
/// apply.
struct Route {
    root: PathBuf,
    start: PathBuf,
    depth: usize,
}

/// The folder where a walk begins.
#[derive(Clone, Copy)]
enum Beginning {
    /// The folder of the workspace, from which the walk goes only to the searched folder.
    Root,
    /// The searched folder itself. This is used if a rule ignores that folder, so that a walk from the workspace does
    /// not reach it. The folder is searched anyway, because the caller has named it.
    Start,
}

/// How a walk treats an entry.
enum Step {
    /// The entry is a folder on the path to the searched folder.
    Passed,
    /// The entry is the searched folder.
    Start,
    Entry {
        name: Name,
        relative: String,
        is_file: bool,
    },
    /// The entry cannot be read, or its name is not UTF-8.
    Missed,
}

impl Route {
    fn new(files: &LocalFiles, start: &Name) -> Result<Self, ToolError> {
        // The rules library compares paths as text, so they must not contain `.`.
        let plain = |name| -> Result<PathBuf, ToolError> {
            Ok(files.folder_path(name)?.components().collect())
        };
        let (root, start) = (plain(&Name::root())?, plain(start)?);
        let depth = start.strip_prefix(&root).map_or(0, |inside| inside.iter().count());
        Ok(Self { root, start, depth })
    }

    /// Makes the walk that begins at one of the two folders.
    fn beginning_at(
        &self,
        from: Beginning,
        files: &LocalFiles,
        sought: &SearchScope<'_>,
    ) -> io::Result<WalkBuilder> {
        let (top, above) = match from {
            Beginning::Root => (&self.root, self.depth),
            Beginning::Start => (&self.start, 0),
        };
        let mut builder = WalkBuilder::new(top);
        builder.standard_filters(false);
        builder.max_depth(sought.depth.map(|depth| depth.saturating_add(above)));
        let start = self.start.clone();
        let ignored = match sought.include_ignored {
            true => None,
            false => Some(IgnoreRules::below(top, &files.folder, &files.root)?),
        };
        builder.filter_entry(move |entry| {
            let (path, name) = (entry.path(), entry.file_name());
            let is_on_the_way = start.starts_with(path);
            if name == ".git" || !is_on_the_way && !path.starts_with(&start) {
                return false;
            }
            let Some(ignored) = &ignored else { return true };
            let is_folder = entry.file_type().is_some_and(|it| it.is_dir());
            // The caller has named the folders on the path, so they are not skipped even if they are hidden.
            let is_hidden = !is_on_the_way && name.as_encoded_bytes().starts_with(b".");
            !is_hidden && !ignored.has(path, is_folder)
        });
        Ok(builder)
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
