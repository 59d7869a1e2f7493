//! Replaces lines of a text by their numbers, for every tool that edits texts by lines. Pure.

use toolwright::{ErrorClass, ToolError, data};

use super::notes::count;
use crate::workspace::Ends;

/// Lines that take the place of others. All numbers are those of the text before any patch.
#[data]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinePatch {
    /// First line to replace, counted from 1; with `end_line` 0 the line before which the lines are inserted, where the
    /// number after the last line appends them.
    pub start_line: i64,
    /// Last line to replace, which is replaced too; 0 to insert and replace nothing.
    pub end_line: i64,
    /// The lines that take their place; empty to delete the lines. One line end at its end belongs to the last line.
    pub content: String,
}

impl LinePatch {
    /// Makes a patch that replaces the lines from `start_line` to `end_line` with `content`.
    #[must_use]
    pub fn new(start_line: i64, end_line: i64, content: impl Into<String>) -> Self {
        Self { start_line, end_line, content: content.into() }
    }

    fn is_insertion(&self) -> bool {
        self.end_line == 0
    }
}

/// Applies all patches to a text.
///
/// Preserves the line ends of the text. A text without a line end after its last line stays without it, unless that
/// line is deleted. Lines inserted at the same place keep the order of their patches, and come before a line that
/// another patch replaces.
///
/// ```
/// use toolwright_toolbox::{LinePatch, patched_lines};
///
/// let patches = [LinePatch::new(1, 0, "zero"), LinePatch::new(2, 2, "2"), LinePatch::new(4, 0, "four\nfive")];
/// assert_eq!(patched_lines("one\r\ntwo\r\nthree\r\n", &patches)?, "zero\r\none\r\n2\r\nthree\r\nfour\r\nfive\r\n");
/// let error = patched_lines("one\n", &[LinePatch::new(2, 3, "x")]).unwrap_err();
/// assert_eq!(error.kind(), "invalid_patch");
/// # Ok::<(), toolwright::ToolError>(())
/// ```
///
/// # Errors
/// A single `invalid_patch` error that lists all problems: lines that do not exist, an end before its start, ranges that
/// overlap, an insertion within a range, an empty insertion.
pub fn patched_lines(text: &str, patches: &[LinePatch]) -> Result<String, ToolError> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut order: Vec<(usize, &LinePatch)> = patches.iter().enumerate().collect();
    order.sort_by_key(|(_, patch)| (patch.start_line, !patch.is_insertion()));
    let problems = problems(lines.len(), &order);
    if !problems.is_empty() {
        let message = format!(
            "{}; the text has {}",
            problems.join("; "),
            count(lines.len(), "line", "lines")
        );
        return Err(ToolError::new("invalid_patch", message)
            .class(ErrorClass::Invalid)
            .hint("all numbers are those of the text as it is now; read it again to see them"));
    }
    let ends = Ends::of(text);
    let has_last_end = text.is_empty() || text.ends_with('\n');
    let mut patched = PatchedText { text: String::with_capacity(text.len()), last_end: "" };
    let mut next = 0;
    for (_, patch) in order {
        // The check above has refused numbers for which the conversion fails.
        let start = usize::try_from(patch.start_line).unwrap_or(1) - 1;
        lines[next..start].iter().for_each(|line| patched.push_whole(line, ends));
        let end = match ends {
            Ends::Mixed => whole(lines.get(start).or(lines.last()).unwrap_or(&""), ends).1,
            Ends::Crlf => "\r\n",
            Ends::Lf => "\n",
        };
        if !patch.content.is_empty() {
            let content = patch.content.strip_suffix('\n').unwrap_or(&patch.content);
            for line in content.split('\n') {
                patched.push((line.strip_suffix('\r').unwrap_or(line), end));
            }
        }
        next = start.max(usize::try_from(patch.end_line).unwrap_or_default());
    }
    lines[next.min(lines.len())..].iter().for_each(|line| patched.push_whole(line, ends));
    let PatchedText { mut text, last_end } = patched;
    if !has_last_end {
        text.truncate(text.len() - last_end.len());
    }
    Ok(text)
}

/// The patched text while it is assembled.
struct PatchedText {
    text: String,
    /// The line end that was added to the last line, to be removed if the line stays the last one; empty if the line
    /// had a line end of its own.
    last_end: &'static str,
}

impl PatchedText {
    fn push(&mut self, (line, end): (&str, &'static str)) {
        self.text.push_str(line);
        self.text.push_str(end);
        self.last_end = end;
    }

    /// Adds an unchanged line of the old text.
    fn push_whole(&mut self, line: &str, ends: Ends) {
        self.push(whole(line, ends));
        if line.ends_with('\n') {
            self.last_end = "";
        }
    }
}

/// Lists the problems of all patches, in the order of the patches.
fn problems(lines: usize, order: &[(usize, &LinePatch)]) -> Vec<String> {
    let total = i64::try_from(lines).unwrap_or(i64::MAX);
    let mut problems = Vec::new();
    for (index, patch) in order {
        let LinePatch { start_line: start, end_line: end, content } = patch;
        let reason = if *start < 1 {
            Some(format!("starts at line {start}, expected at least 1"))
        } else if *end < 0 {
            Some(format!("ends at line {end}, expected a line, or 0 to insert"))
        } else if *end == 0 && *start > total.saturating_add(1) {
            Some(format!(
                "inserts before line {start}, expected at most {}",
                total.saturating_add(1)
            ))
        } else if *end == 0 && content.is_empty() {
            Some("inserts nothing, expected lines in `content`".to_owned())
        } else if *end != 0 && end < start {
            Some(format!("ends at line {end}, before its start at line {start}"))
        } else if *end > total {
            Some(format!("replaces lines {start} to {end}, which do not all exist"))
        } else {
            None
        };
        problems.extend(reason.map(|reason| (*index, format!("patch {} {reason}", index + 1))));
    }
    let mut furthest: Option<(usize, &LinePatch)> = None;
    for (index, patch) in order {
        if let Some((other, before)) = furthest
            && patch.start_line <= before.end_line
            // An insertion at the first replaced line comes before that line, so they do not overlap.
            && !(patch.is_insertion() && patch.start_line == before.start_line)
        {
            let (one, two) = ((*index).min(other), (*index).max(other));
            problems.push((two, format!("patches {} and {} overlap", one + 1, two + 1)));
        }
        if furthest.is_none_or(|(_, before)| patch.end_line > before.end_line) {
            furthest = Some((*index, patch));
        }
    }
    problems.sort();
    problems.into_iter().map(|(_, problem)| problem).collect()
}

/// Splits a line into its text and its end. A last line without an end gets the usual one, which is removed again when
/// the text is complete.
fn whole(line: &str, ends: Ends) -> (&str, &'static str) {
    match (line.strip_suffix("\r\n"), line.strip_suffix('\n')) {
        (Some(line), _) => (line, "\r\n"),
        (None, Some(line)) => (line, "\n"),
        (None, None) if ends == Ends::Crlf => (line, "\r\n"),
        (None, None) => (line, "\n"),
    }
}
