//! The counters of a call's record. A counter at the maximum of its type cannot be raised any more.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::next::Illegal;

/// A counter of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Counter {
    /// [`CallRecord::version`](super::CallRecord::version).
    Version,
    /// [`CallRecord::generation`](super::CallRecord::generation).
    Generation,
    /// [`CallRecord::attempt`](super::CallRecord::attempt).
    Attempt,
    /// [`CallRecord::epoch`](super::CallRecord::epoch).
    Epoch,
}

/// Why a transition cannot be applied to the record of a call, or its version cannot be raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NotAdvanced {
    /// The state of the call does not allow the transition.
    #[error(transparent)]
    Illegal(#[from] Illegal),
    /// A counter of the call's record is at its maximum.
    #[error(
        "its {0} is the highest number there is and cannot be raised. No journal gets there by itself: find out who \
         changed the record, and restore it from a backup"
    )]
    AtMaximum(Counter),
}

impl Counter {
    pub(super) fn raise<N: Number>(self, number: &mut N) -> Result<(), NotAdvanced> {
        *number = number.plus_one().ok_or(NotAdvanced::AtMaximum(self))?;
        Ok(())
    }
}

/// The types of counters.
pub(super) trait Number: Copy {
    fn plus_one(self) -> Option<Self>;
}

impl Number for u32 {
    fn plus_one(self) -> Option<Self> {
        self.checked_add(1)
    }
}

impl Number for u64 {
    fn plus_one(self) -> Option<Self> {
        self.checked_add(1)
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Version => "version",
            Self::Generation => "generation",
            Self::Attempt => "attempt",
            Self::Epoch => "epoch",
        })
    }
}
