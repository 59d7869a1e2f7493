//! Makes a diff of the lines of a file before and after a change; pure, except for a time limit.

use std::time::Duration;

use similar::TextDiff;

use super::notes::{count, shorten};

/// The maximum number of diff lines in an answer to a model.
pub(super) const IN_AN_ANSWER: usize = 60;

/// The maximum number of diff lines in a preview for a person.
pub(super) const IN_A_PREVIEW: usize = 400;

/// The maximum number of characters that are shown of a line.
const LONGEST_LINE: usize = 300;

/// The time limit of the diff. When it is over, the diff may be longer than necessary.
const TIME: Duration = Duration::from_millis(300);

/// Makes a unified diff without file names, of at most `most` lines and a note of how many are left out; empty if both
/// texts are equal.
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
