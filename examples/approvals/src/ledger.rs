//! The outside world of the example: a file with one line for each effect that cannot be undone.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::PathBuf;

/// The path of the file, which is created with its first line.
pub struct Ledger(PathBuf);

impl Ledger {
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Appends a line, and returns once it is on the disk.
    pub fn add(&self, line: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).open(&self.0)?;
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_data()
    }
}
