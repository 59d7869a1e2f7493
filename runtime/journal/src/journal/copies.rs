//! A text that a record has more than once is written once: a long one would cost as much again with each.

use serde::{Deserialize, Serialize};

use super::record::{CallRecord, StoredText};

/// Which texts of a record are left out where it is written, because they are its arguments.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Copies {
    raw: bool,
    shown: bool,
}

impl Copies {
    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl CallRecord {
    /// Removes the texts that are those of the arguments, for a store to write the record.
    #[doc(hidden)]
    #[must_use]
    pub fn without_copies(mut self) -> Self {
        if let StoredText::Plain(arguments) = &self.arguments {
            let shown = self.shown == *arguments;
            let raw = self.raw == self.arguments;
            self.copies = Copies { raw, shown };
            if shown {
                self.shown = String::new();
            }
            if raw {
                self.raw = StoredText::Omitted;
            }
        }
        self
    }

    /// Puts the removed texts back, after a store has read the record. A text that is there stays, so that one that was added
    /// later is compared like any other.
    #[doc(hidden)]
    #[must_use]
    pub fn with_copies(mut self) -> Self {
        let Copies { raw, shown } = std::mem::take(&mut self.copies);
        if let StoredText::Plain(arguments) = &self.arguments {
            if shown && self.shown.is_empty() {
                self.shown.clone_from(arguments);
            }
            if raw && self.raw == StoredText::Omitted {
                self.raw = self.arguments.clone();
            }
        }
        self
    }
}
