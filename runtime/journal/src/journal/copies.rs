//! Removes repeated texts from a record before it is stored, because they may be long.

use serde::{Deserialize, Serialize};

use super::record::{CallRecord, StoredText};

/// The texts that the stored form of a record omits, because they equal the record's arguments.
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
    /// Removes the texts that equal the arguments, for a store that writes the record.
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

    /// Restores the removed texts, after a store has read the record. A text that is present is kept, so that later
    /// checks notice a text which someone added to the stored record.
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
