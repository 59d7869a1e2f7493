//! A run of lines that changes, and what the patch says of where it is; pure.

/// A run of lines that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::files) struct Hunk {
    /// The line of the patch in which it begins, for messages.
    pub(super) at: usize,
    pub(super) place: Place,
    pub(in crate::files) lines: Vec<Line>,
}

/// What a patch says of the place of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// Its first lines in the file before and after, counted from 1, by a header whose numbers are right; where a side has no
    /// lines, the line after which they are added or removed.
    Numbered { old: usize, new: usize },
    /// The one place where its lines fit: the header has no numbers, or wrong ones.
    Sought {
        /// Lines of the file that are above it, from the outermost.
        below: Vec<String>,
        /// Whether its last line is the last one of the file.
        is_last: bool,
        /// So many empty lines at its end may separate two parts of the patch, and be no lines of the file.
        blank: usize,
    },
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::files) struct Line {
    pub(in crate::files) kind: Kind,
    /// Without its end.
    pub(super) text: String,
    pub(super) end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::files) enum Kind {
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

    /// How many lines it has before and after.
    pub(super) fn counts(&self) -> [usize; 2] {
        [before(&self.lines).count(), after(&self.lines).count()]
    }

    pub(super) fn changes_lines(&self) -> bool {
        self.lines.iter().any(|line| line.kind != Kind::Context)
    }

    /// Whether no line before the change is shown.
    pub(super) fn opens_with_change(&self) -> bool {
        self.lines.first().is_none_or(|line| line.kind != Kind::Context)
    }

    /// Whether no line after the change is shown.
    pub(super) fn ends_with_change(&self) -> bool {
        self.lines.last().is_none_or(|line| line.kind != Kind::Context)
    }
}

/// The lines of a hunk that the file has before.
pub(super) fn before(lines: &[Line]) -> impl Iterator<Item = &Line> {
    lines.iter().filter(|line| line.kind != Kind::Added)
}

/// The lines of a hunk that the file has afterwards.
pub(super) fn after(lines: &[Line]) -> impl Iterator<Item = &Line> {
    lines.iter().filter(|line| line.kind != Kind::Removed)
}

impl Line {
    /// A line of a patch behind its sign, without its line feed.
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
