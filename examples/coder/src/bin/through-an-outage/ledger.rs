//! The outside world: a file with one line for each booked entry.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;

/// The file. A killed process leaves only whole lines, because each line is one write.
pub struct Ledger(pub PathBuf);

impl Ledger {
    /// Books an entry of a run. It books a second time if the entry is booked already.
    pub fn book(&self, run: &str, entry: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.0)?;
        file.write_all(format!("{run} {entry}\n").as_bytes())
    }

    /// Returns whether an entry of a run is booked.
    pub fn has(&self, run: &str, entry: &str) -> io::Result<bool> {
        Ok(self.lines()?.contains_key(&format!("{run} {entry}")))
    }

    /// Counts each line of the file.
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
