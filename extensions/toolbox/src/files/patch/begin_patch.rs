//! Parses the patch format of Codex models, from `*** Begin Patch` to `*** End Patch`; pure.
//!
//! Hunks have no line numbers. The text after `@@` is a line of the file above the hunk. It selects one of several
//! places where the hunk fits.

use std::iter::Peekable;
use std::str::Lines;

use super::FilePatch;
use super::hunk::{Hunk, Kind, Line, Place};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const LAST: &str = "*** End of File";

/// Returns whether a patch has this format.
pub(super) fn begins(patch: &str) -> bool {
    patch.trim_start().lines().next().is_some_and(|line| line.trim_end() == BEGIN)
}

/// Parses the files that a patch changes, or returns the problems of the patch.
pub(super) fn read(patch: &str) -> Result<Vec<FilePatch>, Vec<String>> {
    let mut reader = Reader { lines: patch.lines().peekable(), number: 0 };
    let files = reader.files().map_err(|problem| vec![problem])?;
    match files.is_empty() {
        true => Err(vec![format!(
            "the patch names no file, expected `{UPDATE}`, `{ADD}` or `{DELETE}` with a path"
        )]),
        false => Ok(files),
    }
}

struct Reader<'p> {
    lines: Peekable<Lines<'p>>,
    /// The number of the last parsed line, counted from 1.
    number: usize,
}

impl<'p> Reader<'p> {
    fn take(&mut self) -> Option<&'p str> {
        self.number += 1;
        self.lines.next()
    }

    fn take_if(&mut self, is_wanted: impl Fn(&str) -> bool) -> Option<&'p str> {
        let line = self.lines.next_if(|line| is_wanted(line))?;
        self.number += 1;
        Some(line)
    }

    fn files(&mut self) -> Result<Vec<FilePatch>, String> {
        let mut files = Vec::new();
        while self.take_if(|line| line.trim_end() != BEGIN).is_some() {}
        self.take();
        while let Some(line) = self.take() {
            let line = line.trim_end();
            if line == END {
                return self.nothing_more().map(|()| files);
            }
            if line.is_empty() {
                continue;
            }
            files.push(if let Some(name) = line.strip_prefix(ADD) {
                self.read_added(name)
            } else if let Some(name) = line.strip_prefix(DELETE) {
                FilePatch { deletes_unseen: true, ..file(Some(name), None) }
            } else if let Some(name) = line.strip_prefix(UPDATE) {
                self.read_update(name)?
            } else {
                let what = "expected `*** Update File: `, `*** Add File: `, `*** Delete File: ` or `*** End Patch`";
                return Err(self.wrong(line, what));
            });
        }
        Err(format!("the patch ends without `{END}`: it may be cut short"))
    }

    fn nothing_more(&mut self) -> Result<(), String> {
        while let Some(line) = self.take() {
            if !line.trim().is_empty() {
                return Err(self.wrong(line, "expected nothing after `*** End Patch`"));
            }
        }
        Ok(())
    }

    fn read_added(&mut self, name: &str) -> FilePatch {
        let (at, mut lines) = (self.number, Vec::new());
        while let Some(line) = self.take_if(|line| line.starts_with('+')) {
            lines.push(Line::new(Kind::Added, &line[1..]));
        }
        let mut file = file(None, Some(name));
        if !lines.is_empty() {
            file.hunks.push(Hunk { at, place: Place::Numbered { old: 0, new: 1 }, lines });
        }
        file
    }

    fn read_update(&mut self, name: &str) -> Result<FilePatch, String> {
        let at = self.number;
        let target = self.take_if(|line| line.starts_with(MOVE));
        let new = target.map_or(name, |line| line[MOVE.len()..].trim_end());
        let mut file = file(Some(name), Some(new));
        while self.lines.peek().is_some_and(|line| is_of_hunk(line)) {
            let hunk = self.hunk();
            // Empty lines may separate this part from the next one.
            if hunk.lines.iter().all(|line| line.kind == Kind::Context && line.text.is_empty())
                && !file.hunks.is_empty()
            {
                continue;
            }
            if !hunk.changes_lines() {
                let at = hunk.at;
                return Err(format!(
                    "line {at} of the patch is a hunk that adds and removes no line"
                ));
            }
            file.hunks.push(hunk);
        }
        match file.hunks.is_empty() && target.is_none() {
            true => {
                Err(format!("line {at} of the patch is `{UPDATE}{name}`, expected a hunk after it"))
            }
            false => Ok(file),
        }
    }

    fn hunk(&mut self) -> Hunk {
        let (at, mut below) = (self.number + 1, Vec::new());
        while let Some(line) = self.take_if(|line| line.starts_with("@@")) {
            let name = line[2..].trim();
            if !name.is_empty() {
                below.push(name.to_owned());
            }
        }
        let (mut lines, mut blank) = (Vec::new(), 0);
        while let Some(line) = self.take_if(|line| is_of_hunk(line) && !line.starts_with("@@")) {
            let kind = match line.as_bytes().first() {
                Some(b'-') => Kind::Removed,
                Some(b'+') => Kind::Added,
                _ => Kind::Context,
            };
            blank = if line.is_empty() { blank + 1 } else { 0 };
            lines.push(Line::new(kind, line.get(1..).unwrap_or_default()));
        }
        let is_last = self.take_if(|line| line.trim_end() == LAST).is_some();
        Hunk { at, place: Place::Sought { below, is_last, blank }, lines }
    }

    fn wrong(&self, line: &str, what: &str) -> String {
        let shown: String = line.chars().take(60).collect();
        format!("line {} of the patch is `{shown}`, {what}", self.number)
    }
}

fn file(old: Option<&str>, new: Option<&str>) -> FilePatch {
    FilePatch {
        old: old.map(str::to_owned),
        new: new.map(str::to_owned),
        is_copy: false,
        deletes_unseen: false,
        program: None,
        hunks: Vec::new(),
    }
}

fn is_of_hunk(line: &str) -> bool {
    line.is_empty() || line.starts_with([' ', '+', '-']) || line.starts_with("@@")
}
