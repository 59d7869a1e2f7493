//! Finds the place in the file where a hunk is applied. Pure.
//!
//! If the header of a hunk has correct counts, its line numbers mean the same as for `git apply`. A hunk that begins at
//! line 1 fits only at the beginning of the file. A hunk without context after its change fits only at the end of the
//! file. This prevents that a hunk is applied twice, or to a copy of its lines.
//!
//! If the lines have moved, the hunk is applied only where git would apply it, and only if no other place is possible:
//! git takes the nearest place, which may be a copy of the lines. Without correct counts, the lines have to fit in
//! exactly one place.

use std::collections::HashSet;
use std::ops::Range;

use super::hunk::{End, Hunk, Line, Place, after, before};
use crate::files::occurrences::occurrences;

/// The most places that a message lists.
const NAMED: usize = 20;

/// A line of the file and its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileLine<'t> {
    pub(super) text: &'t str,
    pub(super) end: End,
}

impl<'t> FileLine<'t> {
    pub(super) fn of(line: &'t str) -> Self {
        match (line.strip_suffix("\r\n"), line.strip_suffix('\n')) {
            (Some(text), _) => Self { text, end: End::Crlf },
            (None, Some(text)) => Self { text, end: End::Lf },
            (None, None) => Self { text: line, end: End::None },
        }
    }
}

impl<'l> From<&'l Line> for FileLine<'l> {
    fn from(line: &'l Line) -> Self {
        Self { text: &line.text, end: line.end }
    }
}

/// The place where a hunk is applied.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fit {
    /// The index in the file of the first line that the hunk covers, and the number of covered lines.
    pub(super) start: usize,
    pub(super) count: usize,
    /// Whether the line ends of the hunk also match those of the file.
    pub(super) is_exact: bool,
    /// How many empty lines at the end of the hunk are ignored, because they only separate it from the next part of the
    /// patch.
    pub(super) dropped: usize,
}

/// The lines of a file, and the places of the hunks that have been placed.
pub(super) struct Places<'f, 't> {
    lines: &'f [FileLine<'t>],
    /// The ranges of lines that placed hunks cover, in order.
    taken: Vec<Range<usize>>,
    /// By how many lines the last hunk was moved.
    moved: isize,
    /// By how many lines the placed hunks lengthen the file.
    grown: isize,
}

impl<'f, 't> Places<'f, 't> {
    pub(super) fn new(lines: &'f [FileLine<'t>]) -> Self {
        Self { lines, taken: Vec::new(), moved: 0, grown: 0 }
    }

    /// Returns the place of the next hunk, or the reason why it cannot be applied.
    pub(super) fn next(&mut self, hunk: &Hunk) -> Result<Fit, String> {
        let (fit, moved) = match &hunk.place {
            Place::Numbered { old, new } => {
                let fit = self.fit_by_number(hunk, *old, *new)?;
                (fit, fit.start.cast_signed() - first(hunk, *old).cast_signed())
            }
            Place::Sought { below, is_last, blank } => {
                (self.fit_by_lines(hunk, below, *is_last, *blank)?, self.moved)
            }
        };
        let end = self.taken.last().map_or(0, |it| it.end);
        if fit.start < end {
            return Err(format!("fits at line {}, above the hunk before it", fit.start + 1));
        }
        let [old, new] = hunk.counts();
        self.moved = moved;
        self.grown += new.cast_signed() - old.cast_signed();
        self.taken.push(fit.start..fit.start + fit.count);
        Ok(fit)
    }

    /// Finds the place of a hunk with line numbers and correct counts.
    fn fit_by_number(&self, hunk: &Hunk, old: usize, new: usize) -> Result<Fit, String> {
        let wanted: Vec<FileLine<'_>> = before(&hunk.lines).map(FileLine::from).collect();
        let (count, total) = (wanted.len(), self.lines.len());
        let said = first(hunk, old).saturating_add_signed(self.moved);
        let fit = |start, is_exact| Fit { start, count, is_exact, dropped: 0 };
        let (is_begin, is_end) = (old <= 1, hunk.ends_with_change());
        // The place in the old file where git searches first.
        let by_git = new.saturating_sub(1).checked_add_signed(-self.grown);
        let only = match (is_begin, is_end) {
            (true, true) => Some((count == total).then_some(0)),
            (true, false) => Some(Some(0)),
            // The hunk has no lines to find, so its number has to be correct.
            (false, true) if count == 0 => Some((said == total).then_some(said)),
            (false, true) => Some(total.checked_sub(count)),
            (false, false) if hunk.opens_with_change() => Some(by_git.filter(|at| *at == said)),
            (false, false) => None,
        };
        if let Some(only) = only {
            let fits = |is_exact: &bool| only.is_some_and(|at| self.fits(&wanted, at, *is_exact));
            let found = [true, false].into_iter().find(fits).zip(only);
            let Some((is_exact, start)) = found else {
                return Err(self.explain_misfit(&wanted, said, is_begin, is_end));
            };
            self.is_new(hunk, said, start)?;
            // If every line of the hunk ends with LF, the hunk does not specify line ends, and added lines get those of
            // the file.
            let is_meant = total == 0 || hunk.lines.iter().any(|line| line.end != End::Lf);
            return Ok(fit(start, if count == 0 { is_meant } else { is_exact }));
        }
        for is_exact in [true, false] {
            if by_git == Some(said)
                && self.is_free(said, count)
                && self.fits(&wanted, said, is_exact)
            {
                return Ok(fit(said, is_exact));
            }
            let places = self.places(&wanted, is_exact);
            match places.as_slice() {
                [] => {}
                [at] => {
                    self.is_new(hunk, said, *at)?;
                    return Ok(fit(*at, is_exact));
                }
                several if is_nearest(said, several, by_git) => return Ok(fit(said, is_exact)),
                several => {
                    let (line, places) = (said + 1, numbers(several));
                    let at = match several.contains(&said) {
                        true => format!("is for line {line}, or by its other number for another"),
                        false => format!("does not fit at line {line}"),
                    };
                    return Err(format!(
                        "{at}, and fits at {places}: add context until it fits at one"
                    ));
                }
            }
        }
        Err(self.misfit(&wanted, said))
    }

    /// Finds the place of a hunk by its lines, without line numbers.
    fn fit_by_lines(
        &self,
        hunk: &Hunk,
        below: &[String],
        is_last: bool,
        blank: usize,
    ) -> Result<Fit, String> {
        let from = self.end_of(below)?;
        for dropped in 0..=blank.min(hunk.lines.len()) {
            let lines = &hunk.lines[..hunk.lines.len() - dropped];
            let wanted: Vec<FileLine<'_>> = before(lines).map(FileLine::from).collect();
            let count = wanted.len();
            if count == 0 && self.lines.is_empty() {
                return Ok(Fit { start: 0, count, is_exact: true, dropped });
            }
            if count == 0 {
                return Err("has no line that says where it is for: add lines around it".to_owned());
            }
            // Places that differ only in line ends still count as several places.
            let mut places = self.places(&wanted, false);
            places.retain(|at| !is_last || at + count == self.lines.len());
            let start = match places.as_slice() {
                [] => continue,
                [at] => Some(*at),
                // As Codex does, take the first place after the named lines.
                several => several.iter().copied().find(|at| from.is_some_and(|it| *at >= it)),
            };
            let Some(start) = start else {
                let places = numbers(&places);
                return Err(format!("fits at {places}: add context until it fits at one"));
            };
            self.is_made_once(lines, start, count)?;
            let is_exact = self.fits(&wanted, start, true);
            return Ok(Fit { start, count, is_exact, dropped });
        }
        let present: HashSet<&str> = self.lines.iter().map(|line| line.text).collect();
        let mut wanted = before(&hunk.lines).map(|line| line.text.as_str());
        Err(match wanted.find(|text| !present.contains(text)) {
            Some(text) => format!("fits nowhere: no line of the file is {:?}", short(text)),
            None => "fits nowhere: its lines do not follow one another in the file".to_owned(),
        })
    }

    /// Finds the lines that `below` lists, the outermost first. Returns the index after the innermost; `None` if
    /// `below` is empty. The outermost line has to occur exactly once.
    fn end_of(&self, below: &[String]) -> Result<Option<usize>, String> {
        let mut end = None;
        for name in below {
            let from = end.unwrap_or_default();
            let mut found =
                (from..self.lines.len()).filter(|at| self.lines[*at].text.trim() == name.trim());
            let (at, other) = (found.next(), found.next());
            end = match (at, other) {
                (Some(at), None) => Some(at + 1),
                (Some(at), _) if end.is_some() => Some(at + 1),
                (Some(_), _) => {
                    return Err(format!("is for lines below `{name}`, which several lines are"));
                }
                (None, _) => {
                    let name = short(name);
                    return Err(format!(
                        "is for lines below `{name}`, and no line of the file is that"
                    ));
                }
            };
        }
        Ok(end)
    }

    /// Returns whether the lines of the file from the index `at` on equal the wanted lines. Line ends are compared only
    /// if `is_exact`.
    fn fits(&self, wanted: &[FileLine<'_>], at: usize, is_exact: bool) -> bool {
        let found = self.lines.get(at..at.saturating_add(wanted.len()));
        let found = found.filter(|_| self.may_end(wanted, at));
        found.is_some_and(|found| {
            let is_equal = |(one, two): (&FileLine<'_>, &FileLine<'_>)| {
                one.text == two.text && (!is_exact || one.end == two.end)
            };
            found.iter().zip(wanted).all(is_equal)
        })
    }

    /// Returns every place of the wanted lines that no other hunk covers.
    fn places(&self, wanted: &[FileLine<'_>], is_exact: bool) -> Vec<usize> {
        let is_free = |at: &usize| self.is_free(*at, wanted.len()) && self.may_end(wanted, *at);
        if is_exact {
            return occurrences(self.lines, wanted).filter(is_free).collect();
        }
        let texts = |lines: &[FileLine<'t>]| lines.iter().map(|it| it.text).collect::<Vec<_>>();
        let wanted_texts: Vec<&str> = wanted.iter().map(|it| it.text).collect();
        occurrences(&texts(self.lines), &wanted_texts).filter(is_free).collect()
    }

    /// Returns whether the wanted lines may be at this place: a last line without an end has to be the last line of the
    /// file.
    fn may_end(&self, wanted: &[FileLine<'_>], at: usize) -> bool {
        wanted.last().is_none_or(|last| last.end != End::None)
            || at + wanted.len() == self.lines.len()
    }

    fn is_free(&self, at: usize, count: usize) -> bool {
        let next = self.taken.partition_point(|range| range.end <= at);
        self.taken.get(next).is_none_or(|range| range.start >= at + count)
    }

    /// Refuses a hunk that fits elsewhere than at its line numbers, if the file already has the hunk's new lines at
    /// those numbers.
    fn is_new(&self, hunk: &Hunk, said: usize, start: usize) -> Result<(), String> {
        let made: Vec<FileLine<'_>> = after(&hunk.lines).map(FileLine::from).collect();
        match start != said && !made.is_empty() && self.fits(&made, said, false) {
            true => Err(already(said)),
            false => Ok(()),
        }
    }

    /// Refuses a hunk that adds more lines than it removes, if the file already has the hunk's new lines at this place.
    fn is_made_once(&self, lines: &[Line], start: usize, count: usize) -> Result<(), String> {
        let made: Vec<FileLine<'_>> = after(lines).map(FileLine::from).collect();
        let places = [Some(start), (start + count).checked_sub(made.len())];
        let is_there = |at: &usize| made.len() > count && self.fits(&made, *at, false);
        match places.into_iter().flatten().find(is_there) {
            Some(at) => Err(already(at)),
            None => Ok(()),
        }
    }

    /// Explains why a hunk does not fit at the only possible place.
    fn explain_misfit(
        &self,
        wanted: &[FileLine<'_>],
        said: usize,
        is_begin: bool,
        is_end: bool,
    ) -> String {
        let places = self.places(wanted, false);
        if places.is_empty() && !wanted.is_empty() {
            return self.misfit(wanted, if is_begin { 0 } else { said });
        }
        let total = self.lines.len();
        let others = match places.is_empty() {
            true => format!("the file has {total} lines"),
            false => format!("fits at {}", numbers(&places)),
        };
        match (is_begin, is_end) {
            (true, true) => format!(
                "begins at line 1 and shows no line after its change, so that it is for the whole file, and {others}: add \
                 the lines around it"
            ),
            (true, false) => format!(
                "begins at line 1, so that it is for the beginning of the file, and {others}: correct the numbers"
            ),
            (false, true) => format!(
                "shows no line after its change, so that it is for the end of the file, and {others}: add the lines after it"
            ),
            (false, false) => format!(
                "shows no line before its change, so that it is for line {}, and {others}: add the lines before it",
                said + 1
            ),
        }
    }

    /// Describes the first line of the hunk that differs from the file at the expected place.
    fn misfit(&self, wanted: &[FileLine<'_>], expected: usize) -> String {
        for (index, line) in wanted.iter().enumerate() {
            let number = expected.saturating_add(index);
            match self.lines.get(number) {
                Some(found) if found.text == line.text => {}
                Some(found) => {
                    return format!(
                        "fits nowhere: line {} is {:?}, and the patch has {:?}",
                        number + 1,
                        short(found.text),
                        short(line.text)
                    );
                }
                None => {
                    return format!(
                        "fits nowhere: the file has {} lines, and the patch has {:?} at line {}",
                        self.lines.len(),
                        short(line.text),
                        number.saturating_add(1)
                    );
                }
            }
        }
        "fits nowhere".to_owned()
    }
}

/// Returns the index of the first line that a hunk replaces, by the line number of the hunk. For a hunk that only adds
/// lines, returns the index of the line before which it adds them.
pub(super) fn first(hunk: &Hunk, old: usize) -> usize {
    match before(&hunk.lines).next() {
        Some(_) => old.saturating_sub(1),
        None => old,
    }
}

/// Returns whether git would choose this place: among several places, git takes the one nearest to where it searches
/// first.
fn is_nearest(said: usize, places: &[usize], by_git: Option<usize>) -> bool {
    let Some(by_git) = by_git else { return false };
    let distance = said.abs_diff(by_git);
    places.contains(&said) && places.iter().all(|at| *at == said || at.abs_diff(by_git) > distance)
}

fn already(at: usize) -> String {
    format!("adds lines that are already there, at line {}", at + 1)
}

fn numbers(places: &[usize]) -> String {
    let shown: Vec<String> = places.iter().take(NAMED).map(|at| (at + 1).to_string()).collect();
    let word = if places.len() == 1 { "line" } else { "lines" };
    format!("{word} {}", shown.join(", "))
}

fn short(text: &str) -> String {
    text.chars().take(120).collect()
}
