//! Collects the matches in one file, in ripgrep's format.

use std::io;

use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch};

use super::GrepMode;
use crate::files::notes::shorten;
use crate::workspace::Name;

/// The most characters of a line that are shown.
const LONGEST_LINE: usize = 500;

/// The results of one file, of which at most `limit` are shown.
pub(super) struct Lines<'n> {
    name: &'n Name,
    mode: GrepMode,
    limit: usize,
    count: usize,
    /// The result lines, each with the number of its match.
    shown: Vec<(usize, String)>,
    /// The context lines before the next match. They are dropped if that match is not shown.
    before: Vec<String>,
    is_binary: bool,
}

impl<'n> Lines<'n> {
    pub(super) fn new(name: &'n Name, mode: GrepMode, limit: usize) -> Self {
        Self {
            name,
            mode,
            limit,
            count: 0,
            shown: Vec::new(),
            before: Vec::new(),
            is_binary: false,
        }
    }

    /// Returns the number of matches; `None` if no line matches or the file is binary.
    pub(super) fn count(&self) -> Option<usize> {
        (self.count > 0 && !self.is_binary).then_some(self.count)
    }

    /// Returns the result lines, each with the number of its match.
    pub(super) fn into_shown(self) -> Vec<(usize, String)> {
        let name = self.name;
        match self.mode {
            GrepMode::Content => self.shown,
            GrepMode::Files => vec![(1, name.to_string())],
            GrepMode::Count => vec![(1, format!("{name}:{}", self.count))],
        }
    }

    fn line(&self, number: Option<u64>, sign: char, line: &[u8]) -> String {
        let line = String::from_utf8_lossy(line);
        let line = shorten(line.trim_end_matches(['\n', '\r']), LONGEST_LINE);
        format!("{}{sign}{}{sign}{line}", self.name, number.unwrap_or_default())
    }

    /// Returns whether the last match and its context are shown.
    fn shows(&self) -> bool {
        self.mode == GrepMode::Content && self.count <= self.limit
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.count += 1;
        let before = std::mem::take(&mut self.before);
        if self.shows() {
            let line = self.line(found.line_number(), ':', found.bytes());
            let count = self.count;
            self.shown.extend(before.into_iter().chain([line]).map(|line| (count, line)));
        }
        // In the mode `Files` one match is enough, but a zero byte after it shows that the file is binary.
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> io::Result<bool> {
        let line = self.line(around.line_number(), '-', around.bytes());
        match around.kind() {
            SinkContextKind::Before => self.before.push(line),
            _ if self.shows() => self.shown.push((self.count, line)),
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
