//! Applies the hunks of one file to the file's text. Pure.

use super::FilePatch;
use super::hunk::{End, Kind, Line, after, before};
use super::place::{FileLine, Fit, Places};
use crate::workspace::Ends;

/// The most failing hunks that are reported, because each is searched for in the whole file.
const PROBLEMS: usize = 20;

/// Returns the text after the patch, or the problems of the failing hunks. Before each hunk, checks whether the call
/// still needs the result.
pub(in crate::files) fn apply(
    text: &str,
    patch: &FilePatch,
    wanted: &dyn Fn() -> bool,
) -> Result<String, Vec<String>> {
    let lines: Vec<FileLine<'_>> = text.split_inclusive('\n').map(FileLine::of).collect();
    let usual = if Ends::of(text) == Ends::Crlf { End::Crlf } else { End::Lf };
    let (mut made, mut next) = (String::with_capacity(text.len()), 0);
    let (mut places, mut problems) = (Places::new(&lines), Vec::new());
    for hunk in &patch.hunks {
        if !wanted() {
            return Err(vec!["the call was cancelled".to_owned()]);
        }
        match places.next(hunk) {
            Ok(fit) => {
                lines[next..fit.start].iter().for_each(|line| line.push_to(&mut made, usual));
                // In a file with mixed line ends, use the end of the lines that the hunk replaces.
                let around =
                    lines.get(fit.start).map(|line| line.end).filter(|it| *it != End::None);
                let ends_of_file = (!fit.is_exact).then_some(around.unwrap_or(usual));
                let shown = &hunk.lines[..hunk.lines.len() - fit.dropped];
                push_new(&mut made, &lines, shown, fit, ends_of_file);
                next = fit.start + fit.count;
            }
            Err(problem) => {
                problems.push(format!("the hunk in line {} of the patch {problem}", hunk.at));
            }
        }
        if problems.len() >= PROBLEMS {
            break;
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    lines[next..].iter().for_each(|line| line.push_to(&mut made, usual));
    Ok(made)
}

impl FileLine<'_> {
    /// Appends the line to `text`. If `text` does not end with a line end, the `usual` line end is appended first.
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

/// Appends the new lines of a hunk. Context lines keep the line ends of the file. If the patch has other line ends than
/// the file, added lines get those of the file. The patch decides whether the last line has an end. If the patch does
/// not say so, the new last line has an end if the old one has.
fn push_new(
    text: &mut String,
    lines: &[FileLine<'_>],
    hunk: &[Line],
    fit: Fit,
    ends_of_file: Option<End>,
) {
    let mut at = fit.start;
    let is_at_end = fit.start + before(hunk).count() == lines.len();
    let last_is_open = is_at_end
        && match hunk.iter().any(|line| line.end == End::None) {
            // The hunk itself says whether the last line has an end.
            true => after(hunk).last().is_some_and(|line| line.end == End::None),
            false => lines.last().is_some_and(|line| line.end == End::None),
        };
    let count = after(hunk).count();
    let mut written = 0;
    for line in hunk {
        let replaced = lines.get(at).copied();
        at += usize::from(line.kind != Kind::Added);
        if line.kind == Kind::Removed {
            continue;
        }
        written += 1;
        let end = match (line.kind, replaced, ends_of_file) {
            (Kind::Context, Some(found), None) => found.end,
            (_, _, None) => line.end,
            (Kind::Context, Some(found), Some(_)) if found.end != End::None => found.end,
            // An empty line without a line end would disappear, so it gets a line end.
            (_, _, Some(_)) if last_is_open && written == count && !line.text.is_empty() => {
                End::None
            }
            (_, _, Some(usual)) => usual,
        };
        FileLine { text: &line.text, end }.push_to(text, ends_of_file.unwrap_or(End::Lf));
    }
}
