//! Decides the course of each run of a journal: what happens in it and how it ends. It depends only on the seed and the
//! number of the run, so that the model, the person and the check agree. Pure.

use std::time::Duration;

/// How many messages the user sends at most to a run while it works, from all processes together.
pub const SAID_BEFORE_END: u64 = 40;

/// What happens in a run, and how it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// The run ends with a text.
    Text {
        /// The turn of the text.
        last: u64,
    },
    /// The run ends with a text; then its user says more, and it ends with another text.
    TwoTexts {
        /// The turn of the first text.
        first: u64,
        /// The turn of the second text.
        last: u64,
    },
    /// The user says more while the run works; it ends with a text.
    Steered {
        /// The turn of the text.
        last: u64,
    },
    /// The run ends with a text; then its user goes back to an earlier turn, and the new run from there ends with a
    /// text of its own.
    Rewound {
        /// The turn of the text, in both runs.
        last: u64,
    },
    /// The user cancels the run from a certain turn on, at the latest while it waits for an approval that does not
    /// come.
    Cancelled {
        /// The turn from which on the user cancels the run.
        from: u64,
        /// The turn whose last call waits for ever.
        waits: u64,
    },
    /// The run exceeds its time limit, at the latest while it waits for an approval that does not come.
    Late {
        /// The turn whose last call waits for ever.
        waits: u64,
    },
}

impl Course {
    /// Returns the course of a run.
    pub fn of(seed: u64, run: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed ^ run.wrapping_mul(0x9e37_79b9));
        let last = random.u64(3..=5);
        match run % 8 {
            1 => Self::Steered { last },
            2 => Self::Rewound { last },
            3 => Self::TwoTexts { first: last, last: last + random.u64(1..=2) },
            4 => Self::Cancelled { from: random.u64(1..=2), waits: last - 1 },
            5 => Self::Late { waits: last - 1 },
            _ => Self::Text { last },
        }
    }

    /// Returns whether the model answers a turn with a text.
    pub fn is_text(self, turn: u64) -> bool {
        match self {
            Self::Text { last } | Self::Steered { last } | Self::Rewound { last } => turn >= last,
            Self::TwoTexts { first, last } => turn == first || turn >= last,
            Self::Cancelled { .. } | Self::Late { .. } => false,
        }
    }

    /// Returns whether a turn has a call whose approval does not come.
    pub fn waits_for_ever(self, turn: u64) -> bool {
        match self {
            Self::Cancelled { waits, .. } | Self::Late { waits } => turn >= waits,
            _ => false,
        }
    }

    /// Returns whether the user or the time limit ends the run.
    pub fn is_stopped(self) -> bool {
        matches!(self, Self::Cancelled { .. } | Self::Late { .. })
    }

    /// Returns the tag of the run's end.
    pub fn end(self) -> &'static str {
        match self {
            Self::Cancelled { .. } => "cancelled",
            Self::Late { .. } => "limit",
            _ => "text",
        }
    }

    /// Returns how many turns the run may have when it ends: the fewest and the most.
    pub fn turns(self) -> (u64, u64) {
        match self {
            Self::Text { last } | Self::Rewound { last } | Self::TwoTexts { last, .. } => {
                (last, last)
            }
            // The model answers each message that comes as the run ends with one more text.
            Self::Steered { last } => (last, last + SAID_BEFORE_END),
            Self::Cancelled { from, waits } => (from, waits),
            Self::Late { waits } => (0, waits),
        }
    }
}

/// Returns the time limit of the late runs of a journal. It goes on from one process to the next.
pub fn time(seed: u64) -> Duration {
    Duration::from_millis(fastrand::Rng::with_seed(seed ^ 0x7153).u64(300..3_000))
}
