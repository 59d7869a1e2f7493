//! A patch over several files: a unified diff as `git diff` and `diff -u` write it, or the format of Codex; pure.
//!
//! We use our own parser, because a parser that silently skips unexpected lines loses a part of a change. Here every
//! line of a patch is applied, is a header, or is refused with its number.

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

/// The changes of a patch to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FilePatch {
    /// The name of the file before the patch; `None` if the patch creates the file.
    pub(super) old: Option<String>,
    /// The name of the file after the patch; `None` if the patch deletes the file.
    pub(super) new: Option<String>,
    /// Whether the old file also remains, under its own name.
    pub(super) is_copy: bool,
    /// Whether the file is deleted whatever its content is: the Codex format does not list the deleted lines.
    pub(super) deletes_unseen: bool,
    /// Whether the file becomes executable; `None` if the patch does not change that.
    pub(super) program: Option<bool>,
    pub(super) hunks: Vec<Hunk>,
}

impl FilePatch {
    /// Returns the name of the file that the patch reads.
    pub(super) fn reads(&self) -> Option<&str> {
        self.old.as_deref()
    }

    /// Returns the names of the files that the patch writes: the new name, and the old name if it is removed.
    pub(super) fn writes(&self) -> impl Iterator<Item = &str> {
        let old = self.old.as_deref().filter(|_| !self.is_copy && self.old != self.new);
        self.new.as_deref().into_iter().chain(old)
    }

    /// Returns whether a line of the patch begins with a byte order mark.
    pub(super) fn shows_mark(&self) -> bool {
        self.hunks.iter().flat_map(|hunk| &hunk.lines).any(|line| line.text.starts_with(MARK))
    }

    /// Returns the patch that reverts this one.
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
