//! Stores a text that a record has several times only once, since the text may be long.

use serde::{Deserialize, Serialize};

use super::record::{CallRecord, StoredText};

/// Which texts of a record its stored form omits, because they equal the arguments in the record.
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

    /// Restores the removed texts, after a store has read the record. A text that is present stays, so that a text
    /// which was added later is compared like any other.
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
