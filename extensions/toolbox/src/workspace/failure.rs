//! Converts file errors of the system for a model: with the name that the model used, and without paths of the machine.

use std::io::{self, ErrorKind};

use toolwright::{ErrorClass, ToolError};

use super::name::{Name, outside};

pub(crate) fn failed(name: &Name, error: io::Error) -> ToolError {
    // For paths that lead out of the folder, cap-std makes its own error, which has no error number of the system.
    if error.kind() == ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
        // The path itself is valid, so its error is not one of a wrong input.
        return outside(name.as_str(), "leads out of the workspace through a link")
            .class(ErrorClass::Final)
            .caused_by(error);
    }
    let (kind, words) = match error.kind() {
        ErrorKind::StorageFull => ("disk_full", "the disk is full"),
        ErrorKind::QuotaExceeded => ("disk_full", "the quota of the disk is used up"),
        ErrorKind::ReadOnlyFilesystem => ("read_only", "the file system is read-only"),
        ErrorKind::InvalidFilename => ("invalid_input", "a part of the name is too long"),
        ErrorKind::NotADirectory => {
            ("not_a_directory", "a part of the path is a file, not a folder")
        }
        ErrorKind::NotFound => ("not_found", "no such file or folder"),
        _ if is_link_loop(&error) => ("link_loop", "its links lead in a circle"),
        _ => {
            let general = ToolError::from(error);
            let (kind, class) = (general.kind().to_owned(), general.classified());
            return ToolError::new(kind, format!("`{name}`: {general}"))
                .class(class)
                .caused_by(general);
        }
    };
    let failed = ToolError::new(kind, format!("`{name}`: {words}")).caused_by(error);
    match kind {
        "not_found" => failed.hint("list the folder above it to see what is there"),
        _ => failed,
    }
}

#[cfg(unix)]
fn is_link_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_link_loop(_: &io::Error) -> bool {
    false
}
