//! A hunk: a run of changed lines, and what the patch says about its place; pure.

/// A run of changed lines, with context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::files) struct Hunk {
    /// The line of the patch where the hunk begins, for messages.
    pub(super) at: usize,
    pub(super) place: Place,
    pub(in crate::files) lines: Vec<Line>,
}

/// What a patch says about the location of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// The numbers of the hunk's first line in the old and in the new file, counted from 1, from a header with correct
    /// counts. For a side without lines, the number of the line after which lines are added or removed.
    Numbered { old: usize, new: usize },
    /// The header has no numbers or wrong ones: the location is the only place where the lines fit.
    Sought {
        /// Lines of the file above the hunk, outermost first.
        below: Vec<String>,
        /// Whether the hunk's last line is the last one of the file.
        is_last: bool,
        /// How many empty lines at the end of the hunk may not belong to it, but only separate parts of the patch.
        blank: usize,
    },
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::files) struct Line {
    pub(in crate::files) kind: Kind,
    /// The text without the line end.
    pub(super) text: String,
    pub(super) end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::files) enum Kind {
    Context,
    Removed,
    Added,
}

/// The line end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Lf,
    Crlf,
    /// The last line of a file, without a line end.
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

    /// Returns how many lines the hunk has before and after the change.
    pub(super) fn counts(&self) -> [usize; 2] {
        [before(&self.lines).count(), after(&self.lines).count()]
    }

    pub(super) fn changes_lines(&self) -> bool {
        self.lines.iter().any(|line| line.kind != Kind::Context)
    }

    /// Whether the hunk has no context before its change.
    pub(super) fn opens_with_change(&self) -> bool {
        self.lines.first().is_none_or(|line| line.kind != Kind::Context)
    }

    /// Whether the hunk has no context after its change.
    pub(super) fn ends_with_change(&self) -> bool {
        self.lines.last().is_none_or(|line| line.kind != Kind::Context)
    }
}

/// Iterates over the lines of a hunk that are in the old file.
pub(super) fn before(lines: &[Line]) -> impl Iterator<Item = &Line> {
    lines.iter().filter(|line| line.kind != Kind::Added)
}

/// Iterates over the lines of a hunk that are in the new file.
pub(super) fn after(lines: &[Line]) -> impl Iterator<Item = &Line> {
    lines.iter().filter(|line| line.kind != Kind::Removed)
}

impl Line {
    /// Makes a line from the text after its sign, without the line feed.
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
