//! The lines that a change of a file removes and adds; pure but for a limit of time.

use std::time::Duration;

use similar::TextDiff;

use super::notes::{count, shorten};

/// So many lines of a diff stand in the answer to a model.
pub(super) const IN_AN_ANSWER: usize = 60;

/// So many lines of a diff a person is shown before a change.
pub(super) const IN_A_PREVIEW: usize = 400;

/// A longer line is cut, after so many characters.
const LONGEST_LINE: usize = 300;

/// After this time a diff is no longer the shortest one.
const TIME: Duration = Duration::from_millis(300);

/// A unified diff of at most so many lines, without the names of the files; nothing where both texts are equal.
pub(super) fn between(before: &str, after: &str, most: usize) -> String {
    let diff = TextDiff::configure().timeout(TIME).diff_lines(before, after);
    let unified = diff.unified_diff().context_radius(3).to_string();
    let total = unified.lines().count();
    let lines = unified.lines().take(most).map(|line| shorten(line, LONGEST_LINE));
    let mut lines: Vec<String> = lines.collect();
    if total > most {
        lines.push(format!("[{} of the diff]", count(total - most, "more line", "more lines")));
    }
    lines.join("\n")
}
