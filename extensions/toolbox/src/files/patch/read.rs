//! Reads a patch line by line; pure.

use std::iter::{Enumerate, Peekable};
use std::str::SplitInclusive;

use super::headers::Headers;
use super::{End, FilePatch, Hunk, Kind, Line};

/// The files that a patch changes, or everything that is wrong with it, each with its line.
pub(in crate::files) fn read(patch: &str) -> Result<Vec<FilePatch>, Vec<String>> {
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
    /// The next line without its line feed, and its number. A carriage return may belong to the line of a file.
    fn peek_raw(&mut self) -> Option<(usize, &'p str)> {
        let (index, line) = *self.lines.peek()?;
        Some((index + 1, line.strip_suffix('\n').unwrap_or(line)))
    }

    /// The next line as a header, and its number.
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
                // The end of a mail; what follows is its signature, or the next mail.
                is_text = true;
            } else if line.starts_with("@@ ") {
                self.problem(at, "is a hunk, and no file is named before it");
            } else if !is_text && !line.trim().is_empty() {
                let shown: String = line.chars().take(60).collect();
                self.problem(at, format!("is `{shown}`, expected a hunk or the next file"));
                // One report for one run of such lines.
                while self.peek().is_some_and(|(_, line)| {
                    !line.starts_with("diff --git ")
                        && !line.starts_with("--- ")
                        && !line.starts_with("@@ ")
                }) {
                    self.lines.next();
                }
            }
        }
        files
    }

    /// Whether a file begins here: `---`, and `+++` in the next line.
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
            self.lines.next();
        }
        let mut file = match headers.file() {
            Ok(file) => Some(file),
            Err(what) => {
                self.problem(at, format!("begins a file that {what}"));
                None
            }
        };
        let mut hunks: Vec<Hunk> = Vec::new();
        while let Some((number, line)) = self.peek().filter(|(_, line)| line.starts_with("@@")) {
            let Some(hunk) = self.hunk(number, line) else { continue };
            if let Some(before) = hunks.last()
                && first(&hunk) < first(before) + before.lines_before().count()
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
        let Some([start, old, _, new]) = ranges(header) else {
            let shown: String = header.chars().take(60).collect();
            self.problem(at, format!("is `{shown}`, expected numbers as in `@@ -1,3 +1,4 @@`"));
            while self.peek().is_some_and(|(_, line)| is_of_hunk(line)) {
                self.lines.next();
            }
            return None;
        };
        let (mut lines, mut found) = (Vec::<Line>::new(), [0, 0]);
        while let Some((number, line)) = self.peek_raw() {
            let is_whole = found[0] >= old && found[1] >= new;
            if line.starts_with('\\') {
                match lines.last_mut() {
                    Some(last) => last.loses_its_end(),
                    None => self
                        .problem(number, "says that a line has no end, and none stands before it"),
                }
                self.lines.next();
                continue;
            }
            // An empty line is one that lost its only space; after the last line of a hunk it stands between files.
            let header = line.strip_suffix('\r').unwrap_or(line);
            let ends = is_whole && (header.is_empty() || header == "-- " || self.is_file(line));
            if !is_of_hunk(line) || ends {
                break;
            }
            let kind = match line.as_bytes().first() {
                Some(b'-') => Kind::Removed,
                Some(b'+') => Kind::Added,
                _ => Kind::Context,
            };
            found[0] += usize::from(kind != Kind::Added);
            found[1] += usize::from(kind != Kind::Removed);
            let text = if header.is_empty() { line } else { &line[1..] };
            let (text, end) = match text.strip_suffix('\r') {
                Some(text) => (text, End::Crlf),
                None => (text, End::Lf),
            };
            lines.push(Line { kind, text: text.to_owned(), end });
            self.lines.next();
        }
        if found != [old, new] {
            let [found_old, found_new] = found;
            let what = format!(
                "says that the hunk has {old} old and {new} new lines, and it has {found_old} and {found_new}"
            );
            self.problem(at, what);
            return None;
        }
        Some(Hunk { at, start, lines })
    }
}

/// The index of the first line that a hunk replaces, or before which it adds lines.
pub(super) fn first(hunk: &Hunk) -> usize {
    match hunk.lines_before().next() {
        Some(_) => hunk.start.saturating_sub(1),
        None => hunk.start,
    }
}

fn is_of_hunk(line: &str) -> bool {
    matches!(line, "" | "\r") || line.starts_with([' ', '+', '-', '\\'])
}

impl Line {
    fn loses_its_end(&mut self) {
        if self.end == End::Crlf {
            self.text.push('\r');
        }
        self.end = End::None;
    }
}

/// The numbers of `@@ -1,3 +1,4 @@`; a length that is absent is 1.
fn ranges(header: &str) -> Option<[usize; 4]> {
    let (numbers, _) = header.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = numbers.split_once(" +")?;
    // No file has more lines, and sums of such numbers do not overflow.
    let number = |text: &str| text.parse::<u32>().ok().and_then(|it| usize::try_from(it).ok());
    let range = |text: &str| match text.split_once(',') {
        Some((start, length)) => Some([number(start)?, number(length)?]),
        None => Some([number(text)?, 1]),
    };
    let [start, old] = range(old)?;
    let [to, new] = range(new)?;
    Some([start, old, to, new])
}
