//! Parses a patch line by line; pure.

use std::iter::{Enumerate, Peekable};
use std::str::SplitInclusive;

use super::FilePatch;
use super::begin_patch;
use super::headers::Headers;
use super::hunk::{Hunk, Kind, Line, Place};
use super::place::first;

/// Parses the files that a patch changes, or returns all problems with their line numbers.
pub(in crate::files) fn read(patch: &str) -> Result<Vec<FilePatch>, Vec<String>> {
    if begin_patch::begins(patch) {
        return begin_patch::read(patch);
    }
    let mut reader =
        Reader { lines: patch.split_inclusive('\n').enumerate().peekable(), problems: Vec::new() };
    let files = reader.files();
    match reader.problems {
        problems if !problems.is_empty() => Err(problems),
        _ if files.is_empty() => Err(vec![
            "the patch names no file, expected lines such as `--- a/src/lib.rs` and `+++ b/src/lib.rs` before `@@ -1,3 +1,4 @@`".to_owned(),
        ]),
        _ => Ok(files),
    }
}

struct Reader<'p> {
    lines: Peekable<Enumerate<SplitInclusive<'p, char>>>,
    problems: Vec<String>,
}

impl<'p> Reader<'p> {
    /// Returns the next line without its line feed, and its number. A carriage return may belong to a line of the file.
    fn peek_raw(&mut self) -> Option<(usize, &'p str)> {
        let (index, line) = *self.lines.peek()?;
        Some((index + 1, line.strip_suffix('\n').unwrap_or(line)))
    }

    /// Returns the next line as a header, without a carriage return, and its number.
    fn peek(&mut self) -> Option<(usize, &'p str)> {
        self.peek_raw().map(|(number, line)| (number, line.strip_suffix('\r').unwrap_or(line)))
    }

    fn problem(&mut self, at: usize, what: impl AsRef<str>) {
        self.problems.push(format!("line {at} of the patch {}", what.as_ref()));
    }

    fn files(&mut self) -> Vec<FilePatch> {
        let (mut files, mut is_text) = (Vec::new(), true);
        while let Some((at, line)) = self.peek() {
            if line.starts_with("diff --git ") || self.is_file(line) {
                is_text = false;
                files.extend(self.file(at));
                continue;
            }
            self.lines.next();
            if line == "-- " {
                // This line ends a mail. The signature of the mail or the next mail follows.
                is_text = true;
            } else if line.starts_with("@@") {
                self.problem(at, "is a hunk, and no file is named before it");
            } else if !is_text && !line.trim().is_empty() {
                let shown: String = line.chars().take(60).collect();
                self.problem(at, format!("is `{shown}`, expected a hunk or the next file"));
                // Report several such lines only once.
                while self.peek().is_some_and(|(_, line)| {
                    !line.starts_with("diff --git ")
                        && !line.starts_with("--- ")
                        && !line.starts_with("@@")
                }) {
                    self.lines.next();
                }
            }
        }
        files
    }

    /// Returns whether the patch of a file begins here: a line `---`, followed by a line `+++`.
    fn is_file(&self, line: &str) -> bool {
        let mut ahead = self.lines.clone();
        ahead.next();
        line.starts_with("--- ") && ahead.next().is_some_and(|(_, next)| next.starts_with("+++ "))
    }

    fn file(&mut self, at: usize) -> Option<FilePatch> {
        let mut headers = Headers::default();
        let mut has_names = false;
        while let Some((number, line)) = self.peek() {
            if let Some(names) = line.strip_prefix("diff --git ").filter(|_| number == at) {
                headers.git = Some(names.to_owned());
            } else if !has_names && self.is_file(line) {
                has_names = true;
                headers.old = Some(line[4..].to_owned());
                self.lines.next();
                headers.new = self.peek().map(|(_, line)| line[4..].to_owned());
            } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
                self.problem(number, "changes a binary file, expected text");
                self.lines.next();
                while self.peek().is_some_and(|(_, line)| !line.starts_with("diff --git ")) {
                    self.lines.next();
                }
                return None;
            } else if headers.git.is_none() || !headers.take(line) {
                break;
            }
            headers.is_open = self.lines.next().is_some_and(|(_, line)| !line.ends_with('\n'));
        }
        let begins_hunk = self.peek().is_some_and(|(_, line)| line.starts_with("@@"));
        let mut file = match headers.file(begins_hunk) {
            Ok(file) => Some(file),
            Err(what) => {
                self.problem(at, format!("begins a file that {what}"));
                None
            }
        };
        let mut hunks: Vec<Hunk> = Vec::new();
        while let Some((number, line)) = self.peek().filter(|(_, line)| line.starts_with("@@")) {
            let Some(hunk) = self.hunk(number, line) else { continue };
            if let (Some(before), Place::Numbered { old, .. }) = (hunks.last(), &hunk.place)
                && let Place::Numbered { old: old_before, .. } = before.place
                && first(&hunk, *old) < first(before, old_before) + before.counts()[0]
            {
                let what = format!("is a hunk that overlaps the one in line {}", before.at);
                self.problem(number, what);
            }
            hunks.push(hunk);
        }
        if let Some(file) = &mut file {
            file.hunks = hunks;
        }
        file
    }

    fn hunk(&mut self, at: usize, header: &str) -> Option<Hunk> {
        self.lines.next();
        let said = match Numbers::read(header) {
            Ok(said) => said,
            Err(()) => {
                let shown: String = header.chars().take(60).collect();
                let what = format!(
                    "is `{shown}`, expected numbers as in `@@ -1,3 +1,4 @@`, or `@@ ... @@` without any"
                );
                self.problem(at, what);
                while self.peek().is_some_and(|(_, line)| is_of_hunk(line)) {
                    self.lines.next();
                }
                return None;
            }
        };
        let (begin, problems) = (self.lines.clone(), self.problems.len());
        let sought = |blank| Place::Sought { below: Vec::new(), is_last: false, blank };
        let mut hunk = Hunk { at, place: sought(0), lines: Vec::new() };
        hunk.lines = self.body(said.as_ref().map_or([0, 0], |it| it.counts)).0;
        match said {
            Some(said) if hunk.counts() == said.counts => {
                hunk.place = Place::Numbered { old: said.old, new: said.new };
            }
            said => {
                // Because of the wrong counts, lines of the next part may have been included or lines may be missing,
                // so parse the hunk again without the counts.
                self.lines = begin;
                self.problems.truncate(problems);
                let (lines, blank) = self.body([0, 0]);
                hunk.lines = lines;
                hunk.place = sought(blank);
                if let Some(what) = said.and_then(|said| self.cut_short(&hunk, &said)) {
                    self.problem(at, what);
                    return None;
                }
            }
        }
        if !hunk.changes_lines() {
            self.problem(at, "is a hunk that adds and removes no line");
            return None;
        }
        Some(hunk)
    }

    /// Parses the lines of a hunk, of which at least `old` are in the old file and at least `new` are in the new file.
    /// Also returns how many empty lines at the end of the hunk may not belong to it, but separate parts of the patch.
    fn body(&mut self, [old, new]: [usize; 2]) -> (Vec<Line>, usize) {
        let (mut lines, mut found, mut blank) = (Vec::<Line>::new(), [0, 0], 0);
        let mut behind_gap = 0;
        while let Some((number, line)) = self.peek_raw() {
            let is_whole = found[0] >= old && found[1] >= new;
            if line.starts_with('\\') {
                self.no_end(number, line, lines.last_mut());
                self.lines.next();
                continue;
            }
            let header = line.strip_suffix('\r').unwrap_or(line);
            if !is_of_hunk(line) || is_whole && (header == "-- " || self.is_file(line)) {
                break;
            }
            if is_whole && header.is_empty() && number >= behind_gap {
                let Some(behind) = self.behind_gap() else { break };
                behind_gap = behind;
            }
            let kind = match line.as_bytes().first() {
                Some(b'-') => Kind::Removed,
                Some(b'+') => Kind::Added,
                _ => Kind::Context,
            };
            found[0] += usize::from(kind != Kind::Added);
            found[1] += usize::from(kind != Kind::Removed);
            // An empty line is a context line that has lost its leading space, or separates files at the end of a hunk.
            blank = if header.is_empty() { blank + 1 } else { 0 };
            let is_last = self.lines.peek().is_some_and(|(_, line)| !line.ends_with('\n'));
            if is_last && kind == Kind::Added {
                let what = "is the last one, adds a line and has no line end: it may be cut short; where it is whole, end the \
                            patch with a line end";
                self.problem(number, what);
            }
            lines.push(Line::new(kind, if header.is_empty() { line } else { &line[1..] }));
            self.lines.next();
        }
        (lines, blank)
    }

    /// Handles the line `\ No newline at end of file`, in any language: removes the end of the line before.
    fn no_end(&mut self, number: usize, line: &str, last: Option<&mut Line>) {
        if line.len() < SHORTEST_MARK {
            let what = format!("is `{line}`, expected `\\ No newline at end of file`");
            return self.problem(number, what);
        }
        match last {
            Some(last) => last.loses_its_end(),
            None => self.problem(number, "says that a line has no end, and no line precedes it"),
        }
    }

    /// Returns the number of the next line that is not empty, if that line belongs to the hunk.
    fn behind_gap(&self) -> Option<usize> {
        let line = |(index, line): (usize, &'p str)| (index, line.trim_end_matches(['\n', '\r']));
        let mut ahead = self.lines.clone().map(line).skip_while(|(_, line)| line.is_empty());
        let ((index, line), next) = (ahead.next()?, ahead.next());
        let is_file =
            line.starts_with("--- ") && next.is_some_and(|(_, it)| it.starts_with("+++ "));
        (line != "-- " && !is_file && is_of_hunk(line)).then_some(index + 1)
    }

    /// Returns the problem of a hunk that has fewer lines than its header says and is the end of the patch.
    fn cut_short(&mut self, hunk: &Hunk, said: &Numbers) -> Option<String> {
        let is_over = self.lines.clone().all(|(_, line)| line.trim().is_empty());
        let ([old, new], [has_old, has_new]) = (said.counts, hunk.counts());
        (is_over && (has_old < old || has_new < new)).then(|| {
            format!(
                "says that the hunk has {old} old and {new} new lines, and the patch ends after {has_old} and {has_new}: it \
                 may be cut short; where it is whole, the hunk begins with `@@ -{},{has_old} +{},{has_new} @@`",
                said.old, said.new
            )
        })
    }
}

/// The shortest line that means "no newline at end of file", in bytes. git uses the same limit.
const SHORTEST_MARK: usize = 12;

fn is_of_hunk(line: &str) -> bool {
    matches!(line, "" | "\r") || line.starts_with([' ', '+', '-', '\\'])
}

/// The line numbers and counts of a hunk header such as `@@ -1,3 +1,4 @@`.
struct Numbers {
    old: usize,
    new: usize,
    /// How many lines of the hunk are in the old file and in the new file; 1 if the header omits a count.
    counts: [usize; 2],
}

impl Numbers {
    /// Parses the numbers of a header; `None` if the header has none, as in `@@ ... @@`.
    fn read(header: &str) -> Result<Option<Self>, ()> {
        let rest = header.strip_prefix("@@").ok_or(())?;
        let said = match rest.split_once("@@") {
            Some((said, _)) => said,
            None if rest.trim().is_empty() => rest,
            None => return Err(()),
        };
        if !said.contains(|it: char| it.is_ascii_digit()) {
            return Ok(None);
        }
        let ranges = said.strip_prefix(" -").and_then(|it| it.strip_suffix(' '));
        let (old, new) = ranges.and_then(|it| it.split_once(" +")).ok_or(())?;
        // 32 bits suffice for every file, and sums of these numbers cannot overflow.
        let number = |text: &str| text.parse::<u32>().ok().and_then(|it| usize::try_from(it).ok());
        let range = |text: &str| match text.split_once(',') {
            Some((start, length)) => Some([number(start)?, number(length)?]),
            None => Some([number(text)?, 1]),
        };
        let ([old, old_count], [new, new_count]) = (range(old).ok_or(())?, range(new).ok_or(())?);
        Ok(Some(Self { old, new, counts: [old_count, new_count] }))
    }
}
