//! Errors for files that cannot be read or written, in words for a model.

use toolwright::ToolError;

use super::Name;

/// Makes the error for an entry that is not a regular file.
pub(crate) fn not_regular(name: &Name, is_folder: bool) -> ToolError {
    if is_folder {
        let message = format!("`{name}` is a folder, expected a file");
        return ToolError::new("is_a_directory", message);
    }
    let message = format!("`{name}` is a device, a FIFO or a socket, expected a regular file");
    ToolError::new("not_a_file", message)
}

pub(crate) fn is_regular(name: &Name, metadata: &cap_std::fs::Metadata) -> Result<(), ToolError> {
    match metadata.is_file() {
        true => Ok(()),
        false => Err(not_regular(name, metadata.is_dir())),
    }
}

pub(crate) fn too_large(name: &Name, size: u64, most: u64) -> ToolError {
    let message = format!("`{name}` has {size} bytes, expected at most {most}");
    ToolError::new("file_too_large", message).hint("search in it instead of reading it whole")
}

pub(crate) fn read_only(name: &Name) -> ToolError {
    let message = format!("`{name}` is read-only, expected a file that may be written");
    ToolError::new("read_only", message)
}

pub(crate) fn changed_meanwhile(name: &Name) -> ToolError {
    let message =
        format!("`{name}` was changed by another program in the meantime; nothing was written");
    ToolError::new("file_changed", message).hint("read it again")
}
