//! Decides which problems an edit has added: changed lines that have more problems than before; pure.

use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::parsed::Problem;

/// The longest part of a line that is shown, in characters.
const SHOWN: usize = 60;

/// A problem to be reported. Line and column are counted from 1, columns in characters.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) words: String,
}

/// Lines that an edit changed: their ranges before and after.
struct Hunk {
    before: Range<usize>,
    after: Range<usize>,
}

/// Returns the places that an edit has made worse.
pub(super) fn worse(before: (&str, &[Problem]), after: (&str, &[Problem])) -> Vec<Place> {
    if after.1.is_empty() {
        return Vec::new();
    }
    let hunks = hunks(before.0, after.0);
    let in_hunk = |problem: &Problem, side: fn(&Hunk) -> &Range<usize>| {
        // A problem may extend beyond the changed lines.
        hunks.iter().position(|it| {
            let lines = side(it);
            problem.line < lines.end && problem.end >= lines.start
        })
    };
    let old: Vec<Option<usize>> =
        before.1.iter().map(|it| in_hunk(it, |hunk| &hunk.before)).collect();
    let lines: Vec<&str> = after.0.split('\n').collect();
    let mut places = Vec::new();
    for hunk in (0..hunks.len()).map(Some).chain([None]) {
        let new = after.1.iter().filter(|it| in_hunk(it, |hunk| &hunk.after) == hunk);
        let new: Vec<&Problem> = new.collect();
        let old = old.iter().zip(before.1).filter(|(it, _)| **it == hunk).map(|(_, it)| it);
        let mut old: Vec<&Problem> = old.collect();
        if new.len() <= old.len() {
            continue;
        }
        let old_lines: Vec<&str> = before.0.split('\n').collect();
        for problem in new {
            let is_same = |old: &&Problem| {
                old.missing == problem.missing
                    && old_lines.get(old.line).map(|it| it.trim())
                        == lines.get(problem.line).map(|it| it.trim())
            };
            match old.iter().position(is_same) {
                Some(known) => drop(old.remove(known)),
                None => places.push(place(problem, &lines, hunk.map(|it| &hunks[it].after))),
            }
        }
    }
    places.sort_by_key(|it| (it.line, it.column));
    places
}

/// Returns the changed lines, each with its neighbours, where a parser often notices an error.
fn hunks(before: &str, after: &str) -> Vec<Hunk> {
    let old: Vec<&str> = before.split('\n').collect();
    let new: Vec<&str> = after.split('\n').collect();
    let wider = |range: Range<usize>| range.start.saturating_sub(1)..range.end + 1;
    let changed = capture_diff_slices(Algorithm::Myers, &old, &new);
    let changed = changed.iter().filter(|it| it.tag() != DiffTag::Equal);
    changed.map(|it| Hunk { before: wider(it.old_range()), after: wider(it.new_range()) }).collect()
}

fn place(problem: &Problem, lines: &[&str], hunk: Option<&Range<usize>>) -> Place {
    // If a problem covers many lines, report the edited part instead of its beginning.
    let first = hunk.map_or(0, |it| it.start + 1);
    let (line, column) = match problem.line + 1 < first && problem.missing.is_none() {
        true => (first.min(problem.end), None),
        false => (problem.line, Some(problem.column)),
    };
    let text = lines.get(line).copied().unwrap_or_default();
    let column = column.unwrap_or_else(|| text.len() - text.trim_start().len());
    let ahead = text.get(..column).unwrap_or(text);
    let shown: String = text.get(column..).unwrap_or_default().trim().chars().take(SHOWN).collect();
    let words = match &problem.missing {
        Some(token) => format!("missing `{token}` after `{}`", last(ahead, lines, line)),
        None => format!("error near `{shown}`"),
    };
    Place { line: line + 1, column: ahead.chars().count() + 1, words }
}

/// Returns the end of the text before a place.
fn last(ahead: &str, lines: &[&str], line: usize) -> String {
    let above = lines[..line.min(lines.len())].iter().rev().map(|it| it.trim());
    let text = std::iter::once(ahead.trim()).chain(above).find(|it| !it.is_empty());
    let text = text.unwrap_or_default();
    let skipped = text.chars().count().saturating_sub(SHOWN);
    text.chars().skip(skipped).collect()
}
