//! The files of a folder of this machine. A handle holds the folder open, and every open, stat and rename goes through
//! the handle, component by component.

use std::io::{self, Read as _};
use std::path::Path;
#[cfg(any(feature = "files", feature = "process"))]
use std::path::PathBuf;

use cap_fs_ext::OpenOptionsSyncExt as _;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions};
use toolwright::ToolError;

use super::files::Files;
use super::links::{LinkNames, is_real_name_text};
#[cfg(feature = "files")]
use super::listed;
use super::regular::{is_regular, too_large};
use super::replace::{self, Change, WriteOutcome};
#[cfg(feature = "changes")]
use super::restored::RecordedFile;
#[cfg(feature = "files")]
use super::sought::{FoundEntry, SearchScope, Worker};
#[cfg(feature = "changes")]
use super::state::{Above, FileSnapshot, State};
use super::{Name, failed};

/// A folder of this machine.
#[derive(Debug)]
pub(crate) struct LocalFiles {
    pub(super) folder: Dir,
    /// The folder's path, used to list files with the rules of `ignore` and to start programs.
    #[cfg(any(feature = "files", feature = "process"))]
    pub(super) root: PathBuf,
}

impl LocalFiles {
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        let folder = Dir::open_ambient_dir(root, ambient_authority())?;
        Ok(Self {
            folder,
            #[cfg(any(feature = "files", feature = "process"))]
            root: root.to_owned(),
        })
    }

    /// Opens a regular file, without the side effects of opening a device or a FIFO.
    fn open_named(&self, name: &Name) -> Result<File, ToolError> {
        let lookup = |error| failed(name, error);
        is_regular(name, &self.folder.metadata(name).map_err(lookup)?)?;
        is_real_name_text(&self.folder, name)?;
        let mut options = OpenOptions::new();
        // Another file may have the name by now. Do not block: opening a FIFO would wait for its writer.
        options.read(true).nonblock(true);
        let file = self.folder.open_with(name, &options).map_err(lookup)?;
        is_regular(name, &file.metadata().map_err(lookup)?)?;
        Ok(file)
    }
}

impl Files for LocalFiles {
    fn exists(&self, name: &Name) -> Result<bool, ToolError> {
        match self.folder.symlink_metadata(name) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failed(name, error)),
        }
    }

    fn read(&self, name: &Name, most: u64) -> Result<Vec<u8>, ToolError> {
        let file = self.open_named(name)?;
        let size = file.metadata().map_err(|error| failed(name, error))?.len();
        if size > most {
            return Err(too_large(name, size, most));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        // Another process may extend the file meanwhile, so read at most one byte more than the limit.
        file.take(most + 1).read_to_end(&mut bytes).map_err(|error| failed(name, error))?;
        match bytes.len() as u64 {
            size if size > most => Err(too_large(name, size, most)),
            _ => Ok(bytes),
        }
    }

    fn change(&self, changes: &[Change<'_>]) -> Result<Vec<WriteOutcome>, ToolError> {
        replace::change(&self.folder, changes)
    }

    fn names_past_links(&self, name: &Name) -> LinkNames {
        self.link_names(name)
    }

    #[cfg(feature = "process")]
    fn real_folder(&self, name: &Name) -> Result<PathBuf, ToolError> {
        self.folder_path(name)
    }

    #[cfg(feature = "files")]
    fn real_name(&self, name: &Name) -> Option<PathBuf> {
        self.folder.canonicalize(name).ok()
    }

    #[cfg(feature = "files")]
    fn is_folder(&self, name: &Name) -> Result<bool, ToolError> {
        let metadata = self.folder.metadata(name).map_err(|error| failed(name, error))?;
        Ok(metadata.is_dir())
    }

    #[cfg(feature = "files")]
    fn hard_links(&self, name: &Name) -> Result<usize, ToolError> {
        #[cfg(unix)]
        {
            use cap_std::fs::MetadataExt as _;
            match self.folder.metadata(name) {
                Ok(metadata) if metadata.is_file() => {
                    let names = usize::try_from(metadata.nlink()).unwrap_or(usize::MAX);
                    Ok(names.saturating_sub(1))
                }
                _ => Ok(0),
            }
        }
        #[cfg(not(unix))]
        {
            let _ = name;
            Ok(0)
        }
    }

    #[cfg(feature = "files")]
    fn modified(&self, name: &Name) -> Result<Option<std::time::SystemTime>, ToolError> {
        let metadata = self.folder.symlink_metadata(name).map_err(|error| failed(name, error))?;
        Ok(metadata.modified().ok().map(cap_std::time::SystemTime::into_std))
    }

    #[cfg(feature = "files")]
    fn open(&self, name: &Name) -> Result<Box<dyn std::io::Read + Send>, ToolError> {
        Ok(Box::new(self.open_named(name)?))
    }

    #[cfg(feature = "files")]
    fn open_listed(
        &self,
        start: &Name,
        relative: &str,
    ) -> Result<Box<dyn std::io::Read + Send>, ToolError> {
        Ok(Box::new(listed::open(&self.folder, start, relative)?))
    }

    #[cfg(feature = "files")]
    fn list(
        &self,
        start: &Name,
        sought: &SearchScope<'_>,
        each: &mut dyn FnMut(FoundEntry) -> Result<(), ToolError>,
    ) -> Result<usize, ToolError> {
        self.walk(start, sought, each)
    }

    #[cfg(feature = "files")]
    fn search<'a>(
        &self,
        start: &Name,
        sought: &SearchScope<'_>,
        worker: &(dyn Fn() -> Worker<'a> + Sync),
    ) -> Result<usize, ToolError> {
        self.walk_at_once(start, sought, worker)
    }

    #[cfg(feature = "changes")]
    fn written_names(&self, name: &Name) -> Result<Vec<Name>, ToolError> {
        self.own_names(name)
    }

    #[cfg(feature = "changes")]
    fn look(&self, name: &Name) -> Result<FileSnapshot, ToolError> {
        self.look_at(name)
    }

    #[cfg(feature = "changes")]
    fn above(&self, name: &Name) -> Result<Vec<Above>, ToolError> {
        self.folders_above(name)
    }

    #[cfg(feature = "changes")]
    fn restore(
        &self,
        name: &Name,
        expected: &State,
        restored: &RecordedFile<'_>,
    ) -> Result<(), ToolError> {
        self.bring_back(name, expected, restored)
    }
}
