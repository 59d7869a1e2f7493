//! Resolves links in the workspace: a file has both the name of a link to it and its own name.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use cap_std::fs::Dir;
use toolwright::ToolError;

use super::local::LocalFiles;
use super::{Name, failed};

/// The most links on the path to one file, as in the Linux kernel.
const MOST_LINKS: usize = 40;

/// The names of a path after each link on it is resolved.
#[derive(Debug, Default)]
pub(crate) struct LinkNames {
    /// The names in the workspace, the real name last, without the given name. Names that are not UTF-8 are left out,
    /// because their files are not opened.
    pub(crate) inside: Vec<Name>,
    /// The path to which a link leads out of the workspace: an absolute one, or one that begins with `..`.
    pub(crate) outside: Option<String>,
}

impl LocalFiles {
    /// Returns the names of the files that a write to `name` may change: its own name after links in the folders above
    /// it are resolved and, if it is a link, also the name of its target.
    #[cfg(feature = "changes")]
    pub(super) fn own_names(&self, name: &Name) -> Result<Vec<Name>, ToolError> {
        let own = self.name_past_links(name)?;
        let is_link = match self.folder.symlink_metadata(&own) {
            Ok(metadata) => metadata.is_symlink(),
            Err(error) if is_absent(&error) => false,
            Err(error) => return Err(failed(name, error)),
        };
        let mut names = vec![own];
        if is_link {
            // A write cannot change the target of a link that is broken or leads out of the workspace.
            if let Ok(target) = self.folder.canonicalize(&names[0]) {
                names.push(Name::parse(text(name, &target)?)?);
            }
        }
        Ok(names)
    }

    /// Returns the name after links in the folders above it are resolved.
    #[cfg(feature = "changes")]
    fn name_past_links(&self, name: &Name) -> Result<Name, ToolError> {
        let path = Path::new(name.as_str());
        for folder in path.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty()) {
            match self.folder.canonicalize(folder) {
                Ok(real) => {
                    let rest = path.strip_prefix(folder).unwrap_or(path);
                    return Name::parse(text(name, &real.join(rest))?);
                }
                Err(error) if is_absent(&error) => {}
                Err(error) => return Err(failed(name, error)),
            }
        }
        Ok(name.clone())
    }

    /// Resolves the links on a path one by one, until it leads out of the workspace.
    pub(super) fn link_names(&self, name: &Name) -> LinkNames {
        let (mut names, mut links) = (LinkNames::default(), 0);
        let (mut real, mut is_new) = (PathBuf::new(), false);
        let Some(mut rest) = parts(Path::new(name.as_str())) else { return names };
        loop {
            // The folder to which `..` refers is known only after the links before it are resolved.
            if is_new && rest.iter().all(|it| it != "..") {
                let whole = rest.iter().fold(real.clone(), |path, part| path.join(part));
                let whole = whole.to_str().map(|it| if it.is_empty() { "." } else { it });
                let whole = whole.and_then(|it| Name::parse(it).ok());
                names.inside.extend(whole.filter(|it| it != name));
                is_new = false;
            }
            let Some(part) = rest.pop_front() else { return names };
            if part == ".." {
                if !real.pop() {
                    names.outside = joined(Path::new(".."), &rest);
                    return names;
                }
                continue;
            }
            let next = real.join(part);
            match self.folder.read_link_contents(&next) {
                Ok(target) => {
                    let Some(mut target) = parts(&target) else {
                        names.outside = joined(&target, &rest);
                        return names;
                    };
                    links += 1;
                    if links > MOST_LINKS {
                        return names;
                    }
                    target.append(&mut rest);
                    (rest, is_new) = (target, true);
                }
                Err(_) => real = next,
            }
        }
    }
}

/// Returns a path with further parts as text.
fn joined(path: &Path, rest: &VecDeque<OsString>) -> Option<String> {
    let whole = rest.iter().fold(path.to_owned(), |path, part| path.join(part));
    whole.to_str().map(str::to_owned)
}

/// Returns the parts of a relative path.
fn parts(path: &Path) -> Option<VecDeque<OsString>> {
    let mut parts = VecDeque::new();
    for component in path.components() {
        match component {
            Component::Normal(_) | Component::ParentDir => {
                parts.push_back(component.as_os_str().to_owned());
            }
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts)
}

/// Refuses a path that leads through links to a name that is not UTF-8, because no policy rule could refer to that
/// file.
pub(crate) fn is_real_name_text(root: &Dir, name: &Name) -> Result<(), ToolError> {
    for path in Path::new(name.as_str()).ancestors().filter(|it| !it.as_os_str().is_empty()) {
        match root.canonicalize(path) {
            Ok(real) => return text(name, &real).map(|_| ()),
            Err(error) if is_absent(&error) => {}
            Err(error) => return Err(failed(name, error)),
        }
    }
    Ok(())
}

/// Returns a real path, relative to the workspace, as text.
pub(crate) fn text<'p>(name: &Name, real: &'p Path) -> Result<&'p str, ToolError> {
    real.to_str().ok_or_else(|| {
        let message = format!(
            "`{name}` leads through a link to {real:?}, which is not UTF-8, expected a path that is text"
        );
        ToolError::new("not_utf8", message).hint("rename what the link leads to")
    })
}

/// Returns whether an error says that nothing has the name, or that a folder above it is a file.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
