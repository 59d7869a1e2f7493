//! Collects the results of several threads, sorted by name, and drops results beyond the limit. Pure.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::GrepMode;
use crate::workspace::Name;

/// The results of a search.
pub(super) struct GrepResults {
    mode: GrepMode,
    limit: usize,
    /// The results by path. A `PathBuf` is compared part by part, which gives the order of a directory walk.
    files: BTreeMap<PathBuf, FileMatches>,
    /// The number of matches or files in `files`.
    shown: usize,
    /// The number of all matches or files that were found.
    total: usize,
    /// The number of files that were skipped because their names indicate secrets.
    pub(super) secrets: usize,
    /// The number of files that could not be searched.
    pub(super) unread: usize,
}

/// What is found in one file.
struct FileMatches {
    /// The result lines, each with the position of its match in the file, counted from 1.
    lines: Vec<(usize, String)>,
    /// The number of matches in the lines, at most the limit; 1 in modes that count files.
    shown: usize,
}

impl GrepResults {
    pub(super) fn new(mode: GrepMode, limit: usize) -> Self {
        let files = BTreeMap::new();
        Self { mode, limit, files, shown: 0, total: 0, secrets: 0, unread: 0 }
    }

    /// Adds a file with this number of matches.
    pub(super) fn add(&mut self, name: &Name, count: usize, lines: Vec<(usize, String)>) {
        let count = if self.mode == GrepMode::Content { count } else { 1 };
        let shown = count.min(self.limit);
        self.total += count;
        self.shown += shown;
        self.files.insert(PathBuf::from(name.as_str()), FileMatches { lines, shown });
        // Drop files at the end that can no longer be in the answer, because the files before them reach the limit.
        while let Some(last) = self.files.last_entry() {
            if self.shown - last.get().shown < self.limit {
                break;
            }
            self.shown -= last.remove().shown;
        }
    }

    /// Returns how many matches or files the answer leaves out.
    pub(super) fn left_out(&self) -> usize {
        self.total.saturating_sub(self.limit)
    }

    pub(super) fn into_lines(self) -> Vec<String> {
        let (mut left, mut lines) = (self.limit, Vec::new());
        for found in self.files.into_values() {
            let shown = found.lines.into_iter().take_while(|(number, _)| *number <= left);
            lines.extend(shown.map(|(_, line)| line));
            left = left.saturating_sub(found.shown);
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::GrepResults;
    use crate::files::GrepMode;
    use crate::workspace::Name;

    #[test]
    fn the_first_results_are_shown_in_whatever_order_they_come() {
        let lines = |name: &str, count: usize| -> Vec<(usize, String)> {
            (1..=count).map(|number| (number, format!("{name}{number}"))).collect()
        };
        let files = [("c", 2), ("a/z", 2), ("b", 1), ("a", 0), ("a-b", 3)];
        for start in 0..files.len() {
            let mut gathered = GrepResults::new(GrepMode::Content, 4);
            for index in 0..files.len() {
                let (name, count) = files[(start + index) % files.len()];
                if count > 0 {
                    gathered.add(&Name::parse(name).expect(name), count, lines(name, count));
                }
                assert!(gathered.shown < 8, "what is never answered is dropped");
            }
            assert_eq!(gathered.left_out(), 4);
            assert_eq!(gathered.into_lines(), ["a/z1", "a/z2", "a-b1", "a-b2"]);
        }
    }
}
