//! A patch over several files: a unified diff as `git diff` and `diff -u` write it, or codex's form; pure.
//!
//! It is read by code of its own: a reader that passes over lines which it does not expect loses a part of a change without
//! a word, and here every line of a patch is applied, is a header, or is refused by its number.

mod apply;
mod begin_patch;
mod headers;
mod hunk;
mod place;
mod read;

use crate::workspace::MARK;
pub(super) use apply::apply;
use hunk::Hunk;
pub(super) use hunk::Kind;
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
    /// Whether the file is deleted whatever it contains: codex's form does not show its lines.
    pub(super) deletes_unseen: bool,
    /// Whether the file may be run as a program afterwards, where the patch says so.
    pub(super) program: Option<bool>,
    pub(super) hunks: Vec<Hunk>,
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

    /// Whether a line begins with a byte order mark.
    pub(super) fn shows_mark(&self) -> bool {
        self.hunks.iter().flat_map(|hunk| &hunk.lines).any(|line| line.text.starts_with(MARK))
    }

    /// The patch that takes this one back.
    pub(super) fn reverse(&self) -> Self {
        Self {
            old: self.new.clone(),
            new: self.old.clone(),
            is_copy: false,
            deletes_unseen: false,
            program: self.program.map(|is_program| !is_program),
            hunks: self.hunks.iter().map(Hunk::reverse).collect(),
        }
    }
}
