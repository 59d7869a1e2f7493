//! The outside world: a file with one line for each thing that happened and cannot be taken back.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::PathBuf;

/// The file, which is made with its first line.
pub struct Ledger(PathBuf);

impl Ledger {
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Appends a line, and returns once the line is on the disk.
    pub fn add(&self, line: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).open(&self.0)?;
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_data()
    }
}
