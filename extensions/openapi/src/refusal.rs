//! The reason why an operation cannot be a tool, with the place in the document.

use std::fmt;

/// The reason why an operation is not a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The place in the document, as a JSON pointer.
    pub place: String,
    /// The reason, such as the value at that place and the expected one.
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
