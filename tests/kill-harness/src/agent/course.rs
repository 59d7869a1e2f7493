//! Decides how each run goes and ends, from the seed and the run's number alone, so that model, user and check agree.
//! Pure.

use std::time::Duration;

/// How a run goes and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// It ends with a text.
    Text {
        /// The turn of the text.
        last: u64,
    },
    /// It ends with a text, gets another message, and ends with a second text.
    TwoTexts {
        /// The turn of the first text.
        first: u64,
        /// The turn of the second text.
        last: u64,
    },
    /// The user cancels it after a turn, and at the latest while it waits for an approval that never comes.
    Cancelled {
        /// The turn.
        from: u64,
        /// The turn whose last call waits forever.
        waits: u64,
    },
    /// It runs out of time, at the latest while it waits for an approval that never comes.
    Late {
        /// The turn whose last call waits forever.
        waits: u64,
    },
}

impl Course {
    /// Returns the course of a run.
    pub fn of(seed: u64, run: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed ^ run.wrapping_mul(0x9e37_79b9));
        let last = random.u64(3..=5);
        match run % 6 {
            3 => Self::TwoTexts { first: last, last: last + random.u64(1..=2) },
            4 => Self::Cancelled { from: random.u64(1..=2), waits: last - 1 },
            5 => Self::Late { waits: last - 1 },
            _ => Self::Text { last },
        }
    }

    /// Returns whether the model answers a turn with a text.
    pub fn is_text(self, turn: u64) -> bool {
        match self {
            Self::Text { last } => turn >= last,
            Self::TwoTexts { first, last } => turn == first || turn >= last,
            Self::Cancelled { .. } | Self::Late { .. } => false,
        }
    }

    /// Returns whether a turn has a call whose approval never comes.
    pub fn waits_for_ever(self, turn: u64) -> bool {
        match self {
            Self::Cancelled { waits, .. } | Self::Late { waits } => turn >= waits,
            Self::Text { .. } | Self::TwoTexts { .. } => false,
        }
    }

    /// Returns whether the run is stopped from outside.
    pub fn is_stopped(self) -> bool {
        matches!(self, Self::Cancelled { .. } | Self::Late { .. })
    }

    /// Returns the tag of its end.
    pub fn end(self) -> &'static str {
        match self {
            Self::Text { .. } | Self::TwoTexts { .. } => "text",
            Self::Cancelled { .. } => "cancelled",
            Self::Late { .. } => "limit",
        }
    }

    /// Returns the turns that it may end with: the first and the last.
    pub fn turns(self) -> (u64, u64) {
        match self {
            Self::Text { last } | Self::TwoTexts { last, .. } => (last, last),
            Self::Cancelled { from, waits } => (from, waits),
            Self::Late { waits } => (0, waits),
        }
    }
}

/// Returns the time limit of late runs of a journal, across their processes.
pub fn time(seed: u64) -> Duration {
    Duration::from_millis(fastrand::Rng::with_seed(seed ^ 0x7153).u64(300..3_000))
}
