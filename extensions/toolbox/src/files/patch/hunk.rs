//! A hunk: a sequence of changed lines, and the information in the patch about their place. Pure.

/// A sequence of changed lines, with context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::files) struct Hunk {
    /// The number of the line in the patch where the hunk begins, for messages.
    pub(super) at: usize,
    pub(super) place: Place,
    pub(in crate::files) lines: Vec<Line>,
}

/// The information in a patch about the place of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// The header has correct counts. `old` and `new` are the numbers of the hunk's first line in the old and in the new
    /// file, counted from 1. If the hunk has no lines in one of the files, the number is that of the line before it.
    Numbered { old: usize, new: usize },
    /// The header has no numbers or wrong ones, so the hunk's lines have to fit in exactly one place.
    Sought {
        /// Lines of the file above the hunk, the outermost first.
        below: Vec<String>,
        /// Whether the last line of the hunk is the last line of the file.
        is_last: bool,
        /// The number of empty lines at the end of the hunk. Either they belong to the hunk, or they only separate it
        /// from the next part of the patch.
        blank: usize,
    },
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::files) struct Line {
    pub(in crate::files) kind: Kind,
    /// The text of the line without the line end.
    pub(super) text: String,
    pub(super) end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::files) enum Kind {
    Context,
    Removed,
    Added,
}

/// The end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Lf,
    Crlf,
    /// No line end, as in the last line of some files.
    None,
}

impl Hunk {
    pub(super) fn reverse(&self) -> Self {
        let place = match self.place.clone() {
            Place::Numbered { old, new } => Place::Numbered { old: new, new: old },
            sought => sought,
        };
        let mut lines = self.lines.clone();
        for line in &mut lines {
            line.kind = match line.kind {
                Kind::Context => Kind::Context,
                Kind::Removed => Kind::Added,
                Kind::Added => Kind::Removed,
            };
        }
        Self { at: self.at, place, lines }
    }

    /// Returns how many lines of the hunk are in the old file, and how many are in the new one.
    pub(super) fn counts(&self) -> [usize; 2] {
        [before(&self.lines).count(), after(&self.lines).count()]
    }

    pub(super) fn changes_lines(&self) -> bool {
        self.lines.iter().any(|line| line.kind != Kind::Context)
    }

    /// Returns whether the hunk has no context before its change.
    pub(super) fn opens_with_change(&self) -> bool {
        self.lines.first().is_none_or(|line| line.kind != Kind::Context)
    }

    /// Returns whether the hunk has no context after its change.
    pub(super) fn ends_with_change(&self) -> bool {
        self.lines.last().is_none_or(|line| line.kind != Kind::Context)
    }
}

/// Returns the lines of a hunk that are in the old file.
pub(super) fn before(lines: &[Line]) -> impl Iterator<Item = &Line> {
    lines.iter().filter(|line| line.kind != Kind::Added)
}

/// Returns the lines of a hunk that are in the new file.
pub(super) fn after(lines: &[Line]) -> impl Iterator<Item = &Line> {
    lines.iter().filter(|line| line.kind != Kind::Removed)
}

impl Line {
    /// Makes a line from the text after its sign. The text has no line feed.
    pub(super) fn new(kind: Kind, text: &str) -> Self {
        let (text, end) = match text.strip_suffix('\r') {
            Some(text) => (text, End::Crlf),
            None => (text, End::Lf),
        };
        Self { kind, text: text.to_owned(), end }
    }

    pub(super) fn loses_its_end(&mut self) {
        if self.end == End::Crlf {
            self.text.push('\r');
        }
        self.end = End::None;
    }
}
