//! The slot of a call in its run, and how long the call waited for other calls of the turn.

use std::time::Duration;

use toolwright_journal::journal::CallSlot;

/// The slot of a call in its run: the number of the turn, and the index in the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) turn: u64,
    pub(crate) index: u32,
}

impl Slot {
    /// Returns the slot; `None` for a call outside of turns.
    pub(crate) fn of(place: &CallSlot) -> Option<Self> {
        place.turn.map(|turn| Self { turn, index: place.index })
    }

    /// Returns the number of the turn and the index in the turn.
    pub(crate) fn pair(&self) -> (u64, u32) {
        (self.turn, self.index)
    }
}

/// The slot of a call in its run, and how long the call waited for other calls of its turn before it began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InTurn {
    pub(crate) slot: Slot,
    pub(crate) waited: Option<Duration>,
}

impl InTurn {
    /// Returns the index of the call.
    pub(crate) fn index(&self) -> usize {
        usize::try_from(self.slot.index).unwrap_or(usize::MAX)
    }
}
