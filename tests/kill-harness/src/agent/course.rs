//! How each run of a journal goes and ends: decided by seed and number of the run alone, so that model, person and check agree.
//! Pure.

use std::time::Duration;

/// The most that the user of a run says while it works, over all of its processes.
pub const SAID_BEFORE_END: u64 = 40;

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// With the text of its last turn.
    Text {
        /// The turn.
        last: u64,
    },
    /// With a text, after which its user says more, and then with another.
    TwoTexts {
        /// The turn of the first text.
        first: u64,
        /// That of the second.
        last: u64,
    },
    /// With a text, although its user says more while it works.
    Steered {
        /// The turn of the text.
        last: u64,
    },
    /// With a text, after which its user goes back to an earlier turn, from where a new run comes to a text of its own.
    Rewound {
        /// The turn of the text, in both.
        last: u64,
    },
    /// The person cancels it once it has come to a turn, and at the latest while it waits for an approval that does not come.
    Cancelled {
        /// The turn.
        from: u64,
        /// The turn whose last call waits for ever.
        waits: u64,
    },
    /// Its time is up, at the latest while it waits for an approval that does not come.
    Late {
        /// The turn whose last call waits for ever.
        waits: u64,
    },
}

impl Course {
    /// That of a run.
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

    /// Whether the model answers a turn with a text.
    pub fn is_text(self, turn: u64) -> bool {
        match self {
            Self::Text { last } | Self::Steered { last } | Self::Rewound { last } => turn >= last,
            Self::TwoTexts { first, last } => turn == first || turn >= last,
            Self::Cancelled { .. } | Self::Late { .. } => false,
        }
    }

    /// Whether a turn has a call whose approval does not come.
    pub fn waits_for_ever(self, turn: u64) -> bool {
        match self {
            Self::Cancelled { waits, .. } | Self::Late { waits } => turn >= waits,
            _ => false,
        }
    }

    /// Whether it is stopped from outside.
    pub fn is_stopped(self) -> bool {
        matches!(self, Self::Cancelled { .. } | Self::Late { .. })
    }

    /// The tag of its end.
    pub fn end(self) -> &'static str {
        match self {
            Self::Cancelled { .. } => "cancelled",
            Self::Late { .. } => "limit",
            _ => "text",
        }
    }

    /// The turns that it may end with, the fewest and the most.
    pub fn turns(self) -> (u64, u64) {
        match self {
            Self::Text { last } | Self::Rewound { last } | Self::TwoTexts { last, .. } => {
                (last, last)
            }
            // What is said as the run ends is answered by one more text each.
            Self::Steered { last } => (last, last + SAID_BEFORE_END),
            Self::Cancelled { from, waits } => (from, waits),
            Self::Late { waits } => (0, waits),
        }
    }
}

/// The time that late runs of a journal have, across their processes.
pub fn time(seed: u64) -> Duration {
    Duration::from_millis(fastrand::Rng::with_seed(seed ^ 0x7153).u64(300..3_000))
}
