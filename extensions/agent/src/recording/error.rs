//! Errors of reading a recording.

use std::path::PathBuf;

/// The reason why a recording cannot be read.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file of the recording cannot be read.
    #[error("the recording `{}` cannot be read", path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        error: std::io::Error,
    },
    /// The recording has no line with content.
    #[error("found no line, expected `{{\"recording\":1,…}}` and a line for each exchange")]
    Empty,
    /// The file has another version of the format.
    #[error(
        "line 1: found version {found} of the format, expected {expected}; read it with a newer version of this library"
    )]
    Version {
        /// The version in the file.
        found: u32,
        /// The version that this library reads.
        expected: u32,
    },
    /// No provider has this name.
    #[error("line 1: found the provider `{found}`, expected one of {}", names())]
    Provider {
        /// The name in the file.
        found: String,
    },
    /// A line does not have the expected content.
    #[error("line {line} is not {expected}: {error}")]
    Line {
        /// The number of the line, counted from 1.
        line: usize,
        /// The expected content.
        expected: &'static str,
        /// The error of the parser.
        error: serde_json::Error,
    },
}
toolwright::unstable::debug_as_sentence!(RecordingError);

fn names() -> String {
    toolwright::provider::Provider::ALL.map(|it| format!("`{it}`")).join(", ")
}
