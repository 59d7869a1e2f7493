//! The states of a call.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The state of a call. See [`next`](super::next) for the transitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum State {
    /// The call waits until the executor evaluates it: the policy has to decide whether it may run.
    Judging,
    /// The call is part of a plan, and waits until a person accepts it.
    Planned,
    /// The call waits for an approver's decision.
    Pending,
    /// The call may run, and waits for a worker.
    Ready,
    /// A worker has claimed the call and runs it under a lease.
    Running,
    /// The call waits for its child calls, which wait for people's decisions or for results from other processes. The
    /// call runs again when one of the child calls can continue.
    Waiting,
    /// The call was handed over to another process, which has to supply the result before a deadline.
    HandedOver,
    /// It is unknown whether the call happened. A person or the tool's `reconcile` has to find out.
    Indeterminate,
    /// The call failed for good; an operator may requeue or discard it.
    Dead,
    /// The call succeeded.
    Succeeded,
    /// The call failed with an error for the model.
    Failed,
    /// The call was evaluated and must not run: for example, the policy denied it, or the input was wrong.
    Refused,
    /// A person rejected the call.
    Rejected,
    /// The deadline for a decision or for the result of a handed-over call passed, or no approver could decide.
    Expired,
    /// The call was cancelled, for example because its run ended or its caller gave it up.
    Cancelled,
    /// An operator discarded the call.
    Discarded,
}

impl State {
    /// All states.
    pub const ALL: [Self; 16] = [
        Self::Judging,
        Self::Planned,
        Self::Pending,
        Self::Ready,
        Self::Running,
        Self::Waiting,
        Self::HandedOver,
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

    /// Returns the state's name as it is stored and printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Judging => "judging",
            Self::Planned => "planned",
            Self::Pending => "pending",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::HandedOver => "handed_over",
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

    /// Returns the state with this name; `None` if there is no such state.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Reports whether the state is final: no transition leads out of it.
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

    /// Reports whether the state is final or [`Dead`](Self::Dead), so that the call has an answer and does not run
    /// again by itself.
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
