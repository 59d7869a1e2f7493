//! Finds the problems that an edit has added: changed lines that have more problems than before. Pure,
//! except for a time limit.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};

use super::parsed::Problem;

/// The most characters of a line that are shown.
const SHOWN: usize = 60;

/// The time limit of the diff. When it is over, the hunks may be larger than necessary.
const TIME: Duration = Duration::from_millis(300);

/// The place of a reported problem. Line and column are counted from 1, columns in characters.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) words: String,
}

/// Lines that an edit changed: their range before and their range after.
struct Hunk {
    before: Range<usize>,
    after: Range<usize>,
}

/// The problems in one hunk, before the edit and after it, or those in unchanged lines.
#[derive(Default)]
struct ProblemsOfHunk<'a> {
    old: Vec<&'a Problem>,
    new: Vec<&'a Problem>,
}

/// Returns the places where an edit has added problems.
pub(super) fn worse(before: (&str, &[Problem]), after: (&str, &[Problem])) -> Vec<Place> {
    if after.1.is_empty() {
        return Vec::new();
    }
    let hunks = hunks(before.0, after.0);
    let mut changed: BTreeMap<Option<usize>, ProblemsOfHunk<'_>> = BTreeMap::new();
    for problem in before.1 {
        changed.entry(hunk_of(&hunks, problem, |it| &it.before)).or_default().old.push(problem);
    }
    for problem in after.1 {
        changed.entry(hunk_of(&hunks, problem, |it| &it.after)).or_default().new.push(problem);
    }
    let old_lines: Vec<&str> = before.0.split('\n').collect();
    let lines: Vec<&str> = after.0.split('\n').collect();
    let mut places = Vec::new();
    for (hunk, ProblemsOfHunk { mut old, new }) in changed {
        if new.len() <= old.len() {
            continue;
        }
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

/// Returns the first hunk that a problem touches. A problem may extend beyond the changed lines.
fn hunk_of(hunks: &[Hunk], problem: &Problem, side: fn(&Hunk) -> &Range<usize>) -> Option<usize> {
    // Both ends of the ranges ascend.
    let first = hunks.partition_point(|it| side(it).end <= problem.line);
    hunks.get(first).is_some_and(|it| side(it).start <= problem.end).then_some(first)
}

/// Returns the changed lines, each with the lines around it, where a parser often reports the error.
fn hunks(before: &str, after: &str) -> Vec<Hunk> {
    let old: Vec<&str> = before.split('\n').collect();
    let new: Vec<&str> = after.split('\n').collect();
    let wider = |range: Range<usize>| range.start.saturating_sub(1)..range.end + 1;
    let until = Instant::now() + TIME;
    let changed = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(until));
    let changed = changed.iter().filter(|it| it.tag() != DiffTag::Equal);
    changed.map(|it| Hunk { before: wider(it.old_range()), after: wider(it.new_range()) }).collect()
}

fn place(problem: &Problem, lines: &[&str], hunk: Option<&Range<usize>>) -> Place {
    // If a problem covers many lines, report the edited part and not its beginning.
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
