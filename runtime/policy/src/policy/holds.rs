//! Whether a condition holds for a call, as far as the call's facts are known.

/// The result of a condition. The variants are ordered by how certainly the condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holds {
    No,
    Unknown,
    Yes,
}

impl Holds {
    /// Combines conditions of which at least one must hold.
    pub(super) fn any(these: impl IntoIterator<Item = Self>) -> Self {
        these.into_iter().max().unwrap_or(Self::No)
    }

    /// Combines conditions that must all hold. An empty list counts as `No`.
    pub(super) fn all(these: impl IntoIterator<Item = Self>) -> Self {
        these.into_iter().min().unwrap_or(Self::No)
    }

    pub(super) fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Unknown => Self::Unknown,
            Self::Yes => Self::No,
        }
    }
}

impl From<bool> for Holds {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}
