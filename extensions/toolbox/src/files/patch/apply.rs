//! Applies the hunks of one file to its text. A hunk whose lines have moved is found where they stand in one place; pure.

use super::read::first;
use super::{End, FilePatch, Hunk, Kind, Line};
use crate::workspace::Ends;

/// A line of the file, and its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found<'t> {
    text: &'t str,
    end: End,
}

/// The text after the patch, or what is wrong with each hunk.
pub(in crate::files) fn applied(text: &str, patch: &FilePatch) -> Result<String, Vec<String>> {
    let lines: Vec<Found<'_>> = text.split_inclusive('\n').map(Found::of).collect();
    let usual = if Ends::of(text) == Ends::Crlf { End::Crlf } else { End::Lf };
    let (mut after, mut next, mut moved) = (String::with_capacity(text.len()), 0, 0);
    let mut problems = Vec::new();
    for hunk in &patch.hunks {
        let expected = first(hunk).saturating_add_signed(moved);
        match place(&lines, hunk, next, expected) {
            Ok((start, is_exact)) => {
                moved = start.cast_signed() - first(hunk).cast_signed();
                lines[next..start].iter().for_each(|line| line.push_to(&mut after, usual));
                push_new(&mut after, &lines, hunk, start, (!is_exact).then_some(usual));
                next = start + hunk.lines_before().count();
            }
            Err(problem) => {
                problems.push(format!("the hunk in line {} of the patch {problem}", hunk.at))
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    lines[next..].iter().for_each(|line| line.push_to(&mut after, usual));
    Ok(after)
}

impl<'t> Found<'t> {
    fn of(line: &'t str) -> Self {
        match (line.strip_suffix("\r\n"), line.strip_suffix('\n')) {
            (Some(text), _) => Self { text, end: End::Crlf },
            (None, Some(text)) => Self { text, end: End::Lf },
            (None, None) => Self { text: line, end: End::None },
        }
    }

    /// Adds the line. One without an end that is no longer the last one gets the `usual` end.
    fn push_to(self, text: &mut String, usual: End) {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push_str(usual.written());
        }
        text.push_str(self.text);
        text.push_str(self.end.written());
    }
}

impl End {
    fn written(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::Crlf => "\r\n",
            Self::None => "",
        }
    }
}

/// Where a hunk is applied, and whether its line ends are those of the file as well.
fn place(
    lines: &[Found<'_>],
    hunk: &Hunk,
    from: usize,
    expected: usize,
) -> Result<(usize, bool), String> {
    let old: Vec<&Line> = hunk.lines_before().collect();
    if old.is_empty() {
        // There is nothing to find, so the number is all that counts.
        let total = lines.len();
        return match expected {
            at if at < from || at > total => {
                Err(format!("adds lines after line {at}, and the file has {total}"))
            }
            at => {
                // Lines whose ends the patch does not show to be meant get those of the file.
                let is_meant = |line: &Line| line.end != End::Lf;
                Ok((at, total == 0 || hunk.lines.iter().any(is_meant)))
            }
        };
    }
    let fits = |at: usize, is_exact: bool| {
        lines.get(at..at + old.len()).is_some_and(|found| {
            found.iter().zip(&old).all(|(found, line)| {
                found.text == line.text && (!is_exact || found.end == line.end)
            })
        })
    };
    for is_exact in [true, false] {
        if expected >= from && fits(expected, is_exact) {
            return Ok((expected, is_exact));
        }
        let last = (lines.len() + 1).saturating_sub(old.len());
        let places: Vec<usize> = (from..last).filter(|at| fits(*at, is_exact)).collect();
        match places.as_slice() {
            [] => {}
            [at] => return Ok((*at, is_exact)),
            several => {
                let several: Vec<String> =
                    several.iter().take(20).map(|at| (at + 1).to_string()).collect();
                return Err(format!(
                    "does not fit at line {}, and fits at lines {}: add context until it fits at one",
                    expected + 1,
                    several.join(", ")
                ));
            }
        }
    }
    Err(misfit(lines, &old, expected))
}

/// The first line that differs from the file at the place where the hunk is expected.
fn misfit(lines: &[Found<'_>], old: &[&Line], expected: usize) -> String {
    for (index, line) in old.iter().enumerate() {
        let number = expected + index + 1;
        match lines.get(expected + index) {
            Some(found) if found.text == line.text => {}
            Some(found) => {
                return format!(
                    "fits nowhere: line {number} is {:?}, and the patch has {:?}",
                    short(found.text),
                    short(&line.text)
                );
            }
            None => {
                return format!(
                    "fits nowhere: the file has {} lines, and the patch has {:?} at line {number}",
                    lines.len(),
                    short(&line.text)
                );
            }
        }
    }
    "fits nowhere".to_owned()
}

fn short(text: &str) -> String {
    text.chars().take(120).collect()
}

/// The lines of a hunk after the change. Context stays as the file has it; where the patch was written with other line ends
/// than the file has, the new lines get those of the file. The last line has an end where the patch says so, and where the
/// patch says nothing of it, as before.
fn push_new(
    text: &mut String,
    lines: &[Found<'_>],
    hunk: &Hunk,
    start: usize,
    ends_of_file: Option<End>,
) {
    let mut at = start;
    let is_at_end = start + hunk.lines_before().count() == lines.len();
    let last_is_open = is_at_end
        && match hunk.lines.iter().any(|line| line.end == End::None) {
            // The patch says it.
            true => hunk.lines_after().last().is_some_and(|line| line.end == End::None),
            false => lines.last().is_some_and(|line| line.end == End::None),
        };
    let count = hunk.lines_after().count();
    let mut written = 0;
    for line in &hunk.lines {
        let kept = lines.get(at).copied();
        at += usize::from(line.kind != Kind::Added);
        if line.kind == Kind::Removed {
            continue;
        }
        written += 1;
        let end = match (line.kind, kept, ends_of_file) {
            (Kind::Context, Some(found), None) => found.end,
            (_, _, None) => line.end,
            (_, _, Some(_)) if last_is_open && written == count => End::None,
            (Kind::Context, Some(found), Some(usual)) if found.end == End::None => usual,
            (Kind::Context, Some(found), Some(_)) => found.end,
            (_, _, Some(usual)) => usual,
        };
        Found { text: &line.text, end }.push_to(text, ends_of_file.unwrap_or(End::Lf));
    }
}
