//! What stands below a folder, by git's rules for what is ignored. The rules come from `ignore`, which lists by path; each
//! name is looked up through the handle of the workspace before it counts.

use std::ffi::OsStr;
use std::path::Path;

use cap_std::fs::Metadata;
use ignore::WalkBuilder;
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

impl Walk<'_> {
    /// Finds what is below a folder, or a file alone.
    pub(crate) fn each_of(
        &self,
        start: &Name,
        mut each: impl FnMut(Found) -> Result<(), ToolError>,
    ) -> Result<usize, ToolError> {
        let metadata = self.workspace.folder.metadata(start);
        let metadata = metadata.map_err(|error| failed(start, error))?;
        if metadata.is_dir() {
            return self.each(start, each);
        }
        let relative = Path::new(start.as_str()).file_name().unwrap_or_default();
        let relative = relative.to_string_lossy().into_owned();
        each(Found { name: start.clone(), relative, metadata })?;
        Ok(0)
    }

    /// Gives what is below a folder to `each`, in the order of the names, and returns how much could not be read.
    pub(crate) fn each(
        &self,
        start: &Name,
        mut each: impl FnMut(Found) -> Result<(), ToolError>,
    ) -> Result<usize, ToolError> {
        let folder = &self.workspace.folder;
        let real = self.workspace.real_folder(start)?;
        let rules = !self.include_ignored;
        let mut walk = WalkBuilder::new(&real);
        // A copy of a folder without its `.git` is searched like the folder.
        walk.standard_filters(rules).require_git(false).max_depth(self.depth);
        walk.sort_by_file_name(OsStr::cmp).filter_entry(|entry| entry.file_name() != ".git");
        let mut missed = 0;
        for entry in walk.build() {
            if self.context.is_cancelled() {
                let message = "the search was cancelled before its end";
                return Err(ToolError::new("cancelled", message).class(Class::Cancelled));
            }
            let Ok(entry) = entry else {
                missed += 1;
                continue;
            };
            let relative = entry.path().strip_prefix(&real).unwrap_or(entry.path());
            let parts: Vec<_> = relative.iter().map(OsStr::to_string_lossy).collect();
            let relative = parts.join("/");
            if relative.is_empty() {
                continue;
            }
            let name = start.below(&relative);
            match folder.symlink_metadata(&name) {
                Ok(metadata) => each(Found { name, relative, metadata })?,
                // It vanished, its name is not UTF-8, or the folder that was listed is no longer the one inside.
                Err(_) => missed += 1,
            }
        }
        Ok(missed)
    }
}
