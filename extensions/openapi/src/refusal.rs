//! Why an operation cannot be a tool, by its place in the document.

use std::fmt;

/// Why an operation is not a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The place in the document, as a JSON pointer.
    pub place: String,
    /// What was found at that place, and what was expected.
    pub reason: String,
}

impl Refusal {
    pub(crate) fn new(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { place: place.into(), reason: reason.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.reason)
    }
}
