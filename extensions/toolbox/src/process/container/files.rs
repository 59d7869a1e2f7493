//! Accesses the files of a container by commands in it. The container is the boundary: names are checked only as text,
//! reads follow links as the container resolves them, and no file of this machine is touched.

use std::path::PathBuf;

use toolwright::{ToolError, error_kind};

use super::Container;
use super::change;
#[cfg(feature = "files")]
use super::list;
use super::script::{Ran, code, path};
#[cfg(feature = "changes")]
use crate::workspace::{Above, FileSnapshot, RecordedFile, State};
use crate::workspace::{Change, Files, LinkNames, Name, WriteOutcome, not_regular, too_large};
#[cfg(feature = "files")]
use crate::workspace::{FoundEntry, SearchScope, Worker};

/// Shell script: prints the bytes of a regular file of at most `$2` bytes. For anything else, the exit code says what
/// has the name.
const READ: &str = r#"[ -e "$1" ] || exit 41
[ -d "$1" ] && exit 42
[ -f "$1" ] || exit 43
[ -r "$1" ] || exit 44
size=$(wc -c <"$1") || exit 44
[ "$size" -le "$2" ] || { echo "$size"; exit 45; }
exec cat "$1""#;

const EXISTS: &str = r#"if [ -e "$1" ] || [ -L "$1" ]; then exit 0; fi; exit 41"#;

#[cfg(any(feature = "files", feature = "process"))]
const IS_FOLDER: &str = r#"[ -d "$1" ] && exit 42; [ -e "$1" ] || exit 41; exit 0"#;

#[cfg(feature = "files")]
const HARD_LINKS: &str = r#"if [ -f "$1" ]; then exec stat -L -c %h "$1"; fi; echo 1"#;

/// The files of a container.
#[derive(Debug)]
pub(super) struct ContainerFiles {
    pub(super) container: Container,
}

impl ContainerFiles {
    /// Runs a script about one file whose output is short.
    fn ask(&self, name: &Name, script: &str) -> Result<Ran, ToolError> {
        self.container.run(name, script, &[path(name)], None, 4096)
    }

    fn has_folder(&self, name: &Name) -> Result<bool, ToolError> {
        let ran = self.ask(name, IS_FOLDER)?;
        match ran.status.code() {
            Some(0) => Ok(false),
            Some(code::FOLDER) => Ok(true),
            _ => Err(refused(name, &ran)),
        }
    }
}

/// Makes the error for what the script found in place of a regular file.
pub(super) fn refused(name: &Name, ran: &Ran) -> ToolError {
    match ran.status.code() {
        Some(code::ABSENT) => {
            ToolError::new(error_kind::NOT_FOUND, format!("`{name}`: no such file or folder"))
                .hint("list the folder above it to see what is there")
        }
        Some(code::FOLDER) => not_regular(name, true),
        Some(code::NOT_REGULAR) => not_regular(name, false),
        Some(code::FORBIDDEN) => {
            ToolError::new("permission_denied", format!("`{name}`: permission denied"))
        }
        Some(code::NOT_A_FOLDER) => {
            let message = format!("`{name}`: a part of the path is a file, not a folder");
            ToolError::new("not_a_directory", message)
        }
        Some(code::LINK) => {
            let message = format!(
                "`{name}` is a link, expected a file; writes in a container do not follow links"
            );
            ToolError::new("is_a_link", message).hint("name the file that it leads to")
        }
        _ => ran.failed(name),
    }
}

/// Makes the error for a feature that does not support containers.
#[cfg(feature = "changes")]
fn unsupported(name: &Name, what: &str) -> ToolError {
    let message = format!("`{name}` is in a container, where {what}");
    ToolError::new("not_in_a_container", message)
}

impl Files for ContainerFiles {
    fn exists(&self, name: &Name) -> Result<bool, ToolError> {
        let ran = self.ask(name, EXISTS)?;
        match ran.status.code() {
            Some(0) => Ok(true),
            Some(code::ABSENT) => Ok(false),
            _ => Err(ran.failed(name)),
        }
    }

    fn read(&self, name: &Name, most: u64) -> Result<Vec<u8>, ToolError> {
        let ran = self.container.run(name, READ, &[path(name), most.to_string()], None, most)?;
        match ran.status.code() {
            // The file has grown while it was read.
            _ if ran.output.len() as u64 > most => Err(too_large(name, most + 1, most)),
            Some(0) => Ok(ran.output),
            Some(code::TOO_LARGE) => {
                let size = String::from_utf8_lossy(&ran.output).trim().parse();
                Err(too_large(name, size.unwrap_or(most + 1), most))
            }
            _ => Err(refused(name, &ran)),
        }
    }

    fn change(&self, changes: &[Change<'_>]) -> Result<Vec<WriteOutcome>, ToolError> {
        change::change(&self.container, changes)
    }

    /// Returns no names, because the policy does not resolve links in a container.
    fn names_past_links(&self, _: &Name) -> LinkNames {
        LinkNames::default()
    }

    #[cfg(feature = "process")]
    fn real_folder(&self, name: &Name) -> Result<PathBuf, ToolError> {
        if !self.has_folder(name)? {
            let message = format!("`{name}` is a file, expected a folder");
            return Err(ToolError::new("not_a_directory", message));
        }
        let root = &self.container.root;
        Ok(if name.as_str() == "." { root.clone() } else { root.join(name) })
    }

    #[cfg(feature = "files")]
    fn real_name(&self, name: &Name) -> Option<PathBuf> {
        Some(name.as_str().into())
    }

    #[cfg(feature = "files")]
    fn is_folder(&self, name: &Name) -> Result<bool, ToolError> {
        self.has_folder(name)
    }

    #[cfg(feature = "files")]
    fn hard_links(&self, name: &Name) -> Result<usize, ToolError> {
        let ran = self.ask(name, HARD_LINKS)?;
        let names = String::from_utf8_lossy(&ran.output).trim().parse::<usize>();
        match (ran.is_done(), names) {
            (true, Ok(names)) => Ok(names.saturating_sub(1)),
            _ => Err(ran.failed(name)),
        }
    }

    #[cfg(feature = "files")]
    fn modified(&self, name: &Name) -> Result<Option<std::time::SystemTime>, ToolError> {
        list::modified(&self.container, name)
    }

    #[cfg(feature = "files")]
    fn open(&self, name: &Name) -> Result<Box<dyn std::io::Read + Send>, ToolError> {
        Ok(Box::new(std::io::Cursor::new(self.read(name, list::LARGEST_SEARCHED)?)))
    }

    /// Opens the present content of the file, also through a link.
    #[cfg(feature = "files")]
    fn open_listed(
        &self,
        start: &Name,
        relative: &str,
    ) -> Result<Box<dyn std::io::Read + Send>, ToolError> {
        self.open(&start.below(relative))
    }

    #[cfg(feature = "files")]
    fn list(
        &self,
        start: &Name,
        sought: &SearchScope<'_>,
        each: &mut dyn FnMut(FoundEntry) -> Result<(), ToolError>,
    ) -> Result<usize, ToolError> {
        list::each(&self.container, start, sought, &mut |found, _| each(found))
    }

    #[cfg(feature = "files")]
    fn search<'a>(
        &self,
        start: &Name,
        sought: &SearchScope<'_>,
        worker: &(dyn Fn() -> Worker<'a> + Sync),
    ) -> Result<usize, ToolError> {
        list::files(&self.container, start, sought, worker())
    }

    #[cfg(feature = "changes")]
    fn written_names(&self, name: &Name) -> Result<Vec<Name>, ToolError> {
        Ok(vec![name.clone()])
    }

    #[cfg(feature = "changes")]
    fn look(&self, name: &Name) -> Result<FileSnapshot, ToolError> {
        Err(unsupported(name, "changes cannot be recorded; leave the change log out"))
    }

    #[cfg(feature = "changes")]
    fn above(&self, name: &Name) -> Result<Vec<Above>, ToolError> {
        Err(unsupported(name, "changes cannot be recorded; leave the change log out"))
    }

    #[cfg(feature = "changes")]
    fn restore(&self, name: &Name, _: &State, _: &RecordedFile<'_>) -> Result<(), ToolError> {
        Err(unsupported(name, "nothing can be undone"))
    }
}
