//! A unified diff over several files, as `git diff` and `diff -u` write it; pure.
//!
//! It is read by code of its own: a reader that passes over lines which it does not expect loses a part of a change without
//! a word, and here every line of a patch is applied, is a header, or is refused by its number.

mod apply;
mod headers;
mod read;

pub(super) use apply::applied;
pub(super) use read::read;

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FilePatch {
    /// The name before; `None` where the file is made.
    pub(super) old: Option<String>,
    /// The name after; `None` where the file is deleted.
    pub(super) new: Option<String>,
    /// Whether the old file stays, under its own name.
    pub(super) is_copy: bool,
    /// Whether the file may be run as a program afterwards, where the patch says so.
    pub(super) program: Option<bool>,
    pub(super) hunks: Vec<Hunk>,
}

/// A run of lines that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hunk {
    /// The line of the patch in which it begins, for messages.
    pub(super) at: usize,
    /// Its first line in the file before, counted from 1; where it has none, the line after which lines are added.
    pub(super) start: usize,
    pub(super) lines: Vec<Line>,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) kind: Kind,
    /// Without its end.
    pub(super) text: String,
    pub(super) end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Context,
    Removed,
    Added,
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Lf,
    Crlf,
    /// It is the last one, and has no end.
    None,
}

impl FilePatch {
    /// The files that are read.
    pub(super) fn reads(&self) -> Option<&str> {
        self.old.as_deref()
    }

    /// The files that are written: the new name, and the old one where it goes away.
    pub(super) fn writes(&self) -> impl Iterator<Item = &str> {
        let old = self.old.as_deref().filter(|_| !self.is_copy && self.old != self.new);
        self.new.as_deref().into_iter().chain(old)
    }

    /// The patch that takes this one back.
    pub(super) fn reversed(&self) -> Self {
        let hunks = self.hunks.iter().scan(0_isize, |moved, hunk| {
            let (removed, added) = (hunk.count(Kind::Removed), hunk.count(Kind::Added));
            let start = hunk.start.saturating_add_signed(*moved);
            let start = match (hunk.lines_before().count(), hunk.lines_after().count()) {
                (0, more) if more > 0 => start + 1,
                (more, 0) if more > 0 => start.saturating_sub(1),
                _ => start,
            };
            *moved += added.cast_signed() - removed.cast_signed();
            let mut lines = hunk.lines.clone();
            for line in &mut lines {
                line.kind = match line.kind {
                    Kind::Context => Kind::Context,
                    Kind::Removed => Kind::Added,
                    Kind::Added => Kind::Removed,
                };
            }
            Some(Hunk { at: hunk.at, start, lines })
        });
        Self {
            old: self.new.clone(),
            new: self.old.clone(),
            is_copy: false,
            program: self.program.map(|is_program| !is_program),
            hunks: hunks.collect(),
        }
    }
}

impl Hunk {
    /// The lines that the file has before.
    pub(super) fn lines_before(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.kind != Kind::Added)
    }

    /// The lines that the file has afterwards.
    pub(super) fn lines_after(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.kind != Kind::Removed)
    }

    fn count(&self, kind: Kind) -> usize {
        self.lines.iter().filter(|line| line.kind == kind).count()
    }
}
