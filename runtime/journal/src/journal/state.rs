//! Where a call stands.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a call stands in its life. See [`next`](super::next) for how it moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum State {
    /// Its arguments are settled; whether it may run is to be decided.
    Judging,
    /// Queued by plan mode until the plan is accepted.
    Planned,
    /// A person has to decide.
    Pending,
    /// It may run; nobody runs it yet.
    Ready,
    /// Somebody holds the right to run it, for the time of a lease.
    Running,
    /// It may have happened or not; a person or the tool's `reconcile` has to find out.
    Indeterminate,
    /// It failed for good, and an operator may do something about it.
    Dead,
    /// It gave a result.
    Succeeded,
    /// It gave an error that the model should see.
    Failed,
    /// Policy denied it, or its input was wrong.
    Refused,
    /// A person said no.
    Rejected,
    /// Nobody decided in time, or nobody could.
    Expired,
    /// Its run ended, or its caller gave it up, before it could have acted.
    Cancelled,
    /// An operator put it away.
    Discarded,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 14] = [
        Self::Judging,
        Self::Planned,
        Self::Pending,
        Self::Ready,
        Self::Running,
        Self::Indeterminate,
        Self::Dead,
        Self::Succeeded,
        Self::Failed,
        Self::Refused,
        Self::Rejected,
        Self::Expired,
        Self::Cancelled,
        Self::Discarded,
    ];

    /// Its name as it is stored and printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Judging => "judging",
            Self::Planned => "planned",
            Self::Pending => "pending",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Indeterminate => "indeterminate",
            Self::Dead => "dead",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Discarded => "discarded",
        }
    }

    /// The state of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether nothing can happen to the call any more.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(
            self,
            Self::Succeeded
                | Self::Failed
                | Self::Refused
                | Self::Rejected
                | Self::Expired
                | Self::Cancelled
                | Self::Discarded
        )
    }

    /// Whether the call has got its one answer.
    #[must_use]
    pub fn is_answered(self) -> bool {
        self.is_final() || self == Self::Dead
    }
}

impl fmt::Display for State {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}
