//! The outside world of the trial: a file with one line for each booked entry.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;

/// The path of the file. A killed process leaves only complete lines, because each line is one write.
pub struct Ledger(pub PathBuf);

impl Ledger {
    /// Books an entry of a run, even if it is booked already, so that a repeated call is noticed.
    pub fn book(&self, run: &str, entry: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.0)?;
        file.write_all(format!("{run} {entry}\n").as_bytes())
    }

    /// Returns whether an entry of a run is booked.
    pub fn has(&self, run: &str, entry: &str) -> io::Result<bool> {
        Ok(self.lines()?.contains_key(&format!("{run} {entry}")))
    }

    /// Counts how often each line is in the file.
    pub fn lines(&self) -> io::Result<BTreeMap<String, usize>> {
        let text = match fs::read_to_string(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read?,
        };
        let mut lines = BTreeMap::new();
        for line in text.lines() {
            *lines.entry(line.to_owned()).or_default() += 1;
        }
        Ok(lines)
    }
}
