//! Searches the files of a workspace for tools.

use std::path::Path;

use toolwright::{ToolContext, ToolError};

use super::sought::{FoundEntry, Kind, ListedEntry, SearchScope, Worker};
use super::{Name, Workspace};

/// The scope of a search.
pub(crate) struct Walk<'w> {
    pub(crate) workspace: &'w Workspace,
    pub(crate) context: &'w ToolContext,
    /// Whether hidden and ignored files are included.
    pub(crate) include_ignored: bool,
    /// How many levels of folders are searched; `None` for all.
    pub(crate) depth: Option<usize>,
}

impl Workspace {
    /// Lists the files below a folder, relative to the workspace and sorted by name, down to `depth` levels of folders.
    /// Leaves out hidden files, those that git or a file `.ignore` ignores, links, and entries that cannot be read.
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
            if found.kind == Kind::File {
                files.push(found.name.to_string());
            }
            Ok(())
        })?;
        Ok(files)
    }
}

impl Walk<'_> {
    /// Calls functions with the files below a folder, in any order. `worker` makes a function for each of several
    /// threads. If `start` is a file, only that file is passed. `start` itself may be a link, but links below it are
    /// left out. Returns how many entries could not be read.
    pub(crate) fn files_at_once<'a, E>(
        &self,
        start: &Name,
        worker: impl Fn() -> E + Sync,
    ) -> Result<usize, ToolError>
    where
        E: FnMut(ListedEntry) + Send + 'a,
    {
        if !self.workspace.is_folder(start)? {
            let relative = Path::new(start.as_str()).file_name().unwrap_or_default();
            let relative = relative.to_string_lossy().into_owned();
            worker()(ListedEntry { name: start.clone(), relative, modified: None });
            self.sought().is_wanted()?;
            return Ok(0);
        }
        self.folder_at_once(start, worker)
    }

    /// Does the same as [`files_at_once`](Self::files_at_once), but fails if `start` is not a folder.
    pub(crate) fn folder_at_once<'a, E>(
        &self,
        start: &Name,
        worker: impl Fn() -> E + Sync,
    ) -> Result<usize, ToolError>
    where
        E: FnMut(ListedEntry) + Send + 'a,
    {
        let boxed = || -> Worker<'a> { Box::new(worker()) };
        self.workspace.placed().search(start, &self.sought(), &boxed)
    }

    /// Calls `each` with the entries below a folder, sorted by name, and returns how many could not be read.
    pub(crate) fn each(
        &self,
        start: &Name,
        mut each: impl FnMut(FoundEntry) -> Result<(), ToolError>,
    ) -> Result<usize, ToolError> {
        self.workspace.placed().list(start, &self.sought(), &mut each)
    }

    fn sought(&self) -> SearchScope<'_> {
        let &Self { context, include_ignored, depth, .. } = self;
        SearchScope { context, include_ignored, depth }
    }
}
