//! What the search of one file found, as ripgrep prints it.

use std::io;

use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch};

use super::GrepMode;
use crate::files::notes::shortened;
use crate::workspace::Name;

/// A longer line is cut, after so many characters.
const LONGEST_LINE: usize = 500;

/// The results of one file, of which at most so many are shown.
pub(super) struct Lines<'n> {
    name: &'n Name,
    mode: GrepMode,
    left: usize,
    count: usize,
    shown: Vec<String>,
    /// What stands before the next line that matches, which may not be shown.
    before: Vec<String>,
    is_binary: bool,
}

impl<'n> Lines<'n> {
    pub(super) fn new(name: &'n Name, mode: GrepMode, left: usize) -> Self {
        Self { name, mode, left, count: 0, shown: Vec::new(), before: Vec::new(), is_binary: false }
    }

    /// How many lines match, where any does and the file is text.
    pub(super) fn count(&self) -> Option<usize> {
        (self.count > 0 && !self.is_binary).then_some(self.count)
    }

    pub(super) fn into_shown(self) -> Vec<String> {
        let name = self.name;
        match self.mode {
            GrepMode::Content => self.shown,
            _ if self.left == 0 => Vec::new(),
            GrepMode::Files => vec![name.to_string()],
            GrepMode::Count => vec![format!("{name}:{}", self.count)],
        }
    }

    fn line(&self, number: Option<u64>, sign: char, line: &[u8]) -> String {
        let line = String::from_utf8_lossy(line);
        let line = shortened(line.trim_end_matches(['\n', '\r']), LONGEST_LINE);
        format!("{}{sign}{}{sign}{line}", self.name, number.unwrap_or_default())
    }

    /// Whether the last line that matched is shown, and what stands around it.
    fn shows(&self) -> bool {
        self.mode == GrepMode::Content && self.count <= self.left
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.count += 1;
        let mut before = std::mem::take(&mut self.before);
        if self.shows() {
            self.shown.append(&mut before);
            self.shown.push(self.line(found.line_number(), ':', found.bytes()));
        }
        // One line is enough to know the file.
        Ok(self.mode != GrepMode::Files)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> io::Result<bool> {
        let line = self.line(around.line_number(), '-', around.bytes());
        match around.kind() {
            SinkContextKind::Before => self.before.push(line),
            _ if self.shows() => self.shown.push(line),
            _ => {}
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.before.push("--".to_owned());
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> io::Result<()> {
        self.is_binary = end.binary_byte_offset().is_some();
        Ok(())
    }
}
