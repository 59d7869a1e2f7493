//! Where links inside the workspace lead: a file is known by the name of the link as well as by its own.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use toolwright::ToolError;

use super::{Name, Workspace, failed};

impl Workspace {
    /// The names whose files a write to `name` may change: its own, with the links of the folders above it followed, and
    /// where it is a link also the name that it leads to.
    pub(crate) fn written_names(&self, name: &Name) -> Result<Vec<Name>, ToolError> {
        let own = self.name_past_links(name)?;
        let is_link = match self.folder.symlink_metadata(&own) {
            Ok(metadata) => metadata.is_symlink(),
            Err(error) if is_absent(&error) => false,
            Err(error) => return Err(failed(name, error)),
        };
        let mut names = vec![own];
        if is_link {
            // A link that leads nowhere, or out of the workspace, has no file that could change.
            let target = self.folder.canonicalize(&names[0]).ok();
            names.extend(target.and_then(|target| Name::parse(target.to_str()?).ok()));
        }
        Ok(names)
    }

    /// The name with the links of the folders above it followed.
    fn name_past_links(&self, name: &Name) -> Result<Name, ToolError> {
        let path = Path::new(name.as_str());
        for folder in path.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty()) {
            match self.folder.canonicalize(folder) {
                Ok(real) => {
                    let rest = path.strip_prefix(folder).unwrap_or(path);
                    let real: PathBuf = real.join(rest);
                    return match real.to_str() {
                        Some(real) => Name::parse(real),
                        None => Ok(name.clone()),
                    };
                }
                Err(error) if is_absent(&error) => {}
                Err(error) => return Err(failed(name, error)),
            }
        }
        Ok(name.clone())
    }

    /// The names of what a path leads to that differ from the path, as far as they can be known: whatever cannot be looked
    /// up cannot be opened either.
    pub(super) fn names_past_links(&self, path: &str) -> Vec<String> {
        let Ok(name) = Name::parse(path) else { return Vec::new() };
        let Ok(names) = self.written_names(&name) else { return Vec::new() };
        names.iter().filter(|it| **it != name).map(ToString::to_string).collect()
    }
}

/// Whether nothing has the name: also where what should be a folder above it is a file.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
