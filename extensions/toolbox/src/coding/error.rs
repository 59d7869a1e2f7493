//! Why the tools of a coding agent cannot be opened.

use std::io;
use std::path::PathBuf;

/// Why the tools of a coding agent cannot be opened.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum CodingToolsError {
    /// The folder cannot be used.
    #[error("the folder `{}` cannot be worked in: {source}; name one that exists and can be read", folder.display())]
    Folder {
        /// The path of the folder.
        folder: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

toolwright::unstable::debug_as_sentence!(CodingToolsError);
