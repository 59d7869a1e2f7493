//! The state machine: the next state of a call for each transition.
//!
//! - One function decides, [`next`]. It reads no clock and does no I/O, and replays of a journal and tests use it as
//!   well.
//! - Whether a failed call may be repeated depends on the failure, on the tool's effect, and on whether attempts are
//!   left.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::state::State;
use toolwright_core::error::ErrorClass;
use toolwright_core::tool::Effect;

/// A transition of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Transition {
    /// The call was evaluated and must not run, for example because the policy denied it or there is no approver.
    Denied,
    /// The call was evaluated and put into a plan. The call waits until a person accepts it.
    Planned,
    /// The call was evaluated and needs an approver's decision.
    Asked,
    /// The call was evaluated and may run, because the policy allows it or a grant covers it.
    Allowed,
    /// A person accepted the planned call, which the policy has to evaluate again.
    Accepted,
    /// A person approved the call.
    Approved,
    /// A person approved the call with other arguments, which the policy has to evaluate.
    Edited,
    /// A person rejected the call.
    Rejected,
    /// The deadline for a decision or for the result of a handed-over call passed, or no approver could decide.
    Expired,
    /// The call was cancelled because its run ended, or because its caller gave it up, was dropped or is shutting down.
    RunEnded,
    /// A worker claimed the call.
    Claimed,
    /// What the evaluation was based on has changed: the tool, the policy, or the decision.
    Changed,
    /// A middleware of the application delays the call.
    Delayed,
    /// A middleware of the application answered the call, so the tool does not run.
    Answered,
    /// A middleware of the application answered the call with an error, or would delay a call that cannot wait.
    TurnedAway,
    /// The call succeeded.
    Succeeded,
    /// The call failed.
    Errored {
        /// How the call failed.
        failure: Failure,
        /// The effect of the call, as its record names it.
        effect: Effect,
        /// Whether no further attempt is allowed.
        exhausted: bool,
    },
    /// The call is suspended, because its child calls wait for people's decisions or for results from other processes.
    Suspended,
    /// A child call for which this call waits can continue, so this call runs again.
    Resumed,
    /// The call was handed over to another process, which carries it out and supplies the result.
    HandedOver,
    /// The process to which the call was handed over has supplied the result.
    Supplied,
    /// The process to which the call was handed over reports that the call failed.
    Declined,
    /// The call failed for good after it had begun, and the application makes such calls dead letters.
    LaidAside,
    /// A person or the tool found out that the call happened.
    Happened,
    /// A person or the tool found out that the call did not happen.
    DidNotHappen,
    /// The call may have happened after all. Either the statement that it did not happen is not valid, or the tool now
    /// has the effect `once`, so that the call must not be repeated.
    Doubted,
    /// An operator requeued the call.
    Requeued,
    /// The call becomes a dead letter: a requeued call could not run after all, or the tool reported too often that the
    /// call did not happen.
    PutBack,
    /// An operator discarded the call.
    Discarded,
}

/// How a call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Failure {
    /// The tool did not start, so nothing happened.
    NotStarted,
    /// The tool failed and may have acted; a repetition may succeed.
    Transient,
    /// The call is invalid: the model should correct it.
    Invalid,
    /// The call failed in a way that a repetition would not change.
    Final,
    /// The call was cancelled.
    Cancelled,
    /// The reason for the failure is unknown, for example after a panic.
    Unknown,
    /// The call took longer than its timeout allows.
    TimedOut,
    /// The executor that ran the call was lost.
    OwnerLost,
}

impl Failure {
    /// All failures.
    pub const ALL: [Self; 8] = [
        Self::NotStarted,
        Self::Transient,
        Self::Invalid,
        Self::Final,
        Self::Cancelled,
        Self::Unknown,
        Self::TimedOut,
        Self::OwnerLost,
    ];
}

impl From<ErrorClass> for Failure {
    fn from(class: ErrorClass) -> Self {
        match class {
            ErrorClass::NotStarted { .. } => Self::NotStarted,
            ErrorClass::Transient => Self::Transient,
            ErrorClass::Invalid => Self::Invalid,
            ErrorClass::Final => Self::Final,
            ErrorClass::Cancelled => Self::Cancelled,
            ErrorClass::Unknown => Self::Unknown,
        }
    }
}

/// A transition that is impossible in the call's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Illegal {
    /// The state of the call.
    pub state: State,
    /// The transition.
    pub event: Transition,
}

impl fmt::Display for Illegal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a call that is {} cannot be {}", self.state, self.event)
    }
}

impl std::error::Error for Illegal {}

/// Returns the state of a call after a transition.
///
/// ```
/// use toolwright::journal::{Transition, State};
/// use toolwright::unstable::journal::next;
///
/// assert_eq!(next(State::Pending, Transition::Approved), Ok(State::Ready));
/// let twice = next(State::Ready, Transition::Approved).expect_err("it is approved already");
/// assert_eq!(twice.to_string(), "a call that is ready cannot be approved");
/// ```
///
/// # Errors
/// When this transition is impossible in this state.
pub fn next(state: State, event: Transition) -> Result<State, Illegal> {
    use State as S;
    Ok(match (state, event) {
        (S::Judging, Transition::Denied) => S::Refused,
        (S::Judging, Transition::Planned) => S::Planned,
        (S::Judging, Transition::Asked) => S::Pending,
        (S::Judging, Transition::Allowed) => S::Ready,

        (S::Planned, Transition::Accepted) => S::Judging,
        (S::Planned, Transition::Rejected) => S::Rejected,

        (S::Pending, Transition::Approved) => S::Ready,
        (S::Pending, Transition::Edited) => S::Judging,
        (S::Pending, Transition::Rejected) => S::Rejected,
        (S::Pending, Transition::Expired) => S::Expired,

        (S::Ready, Transition::Claimed) => S::Running,
        (S::Ready, Transition::Changed) => S::Judging,
        (S::Ready, Transition::Delayed) => S::Ready,
        (S::Ready, Transition::Answered) => S::Succeeded,
        (S::Ready, Transition::TurnedAway) => S::Failed,

        (S::Judging | S::Planned | S::Pending | S::Ready, Transition::RunEnded) => S::Cancelled,
        (S::Judging | S::Planned | S::Pending | S::Ready | S::Waiting, Transition::Doubted) => {
            S::Indeterminate
        }
        (S::Judging | S::Planned | S::Pending | S::Ready | S::Waiting, Transition::PutBack) => {
            S::Dead
        }

        (S::Running, Transition::Succeeded) => S::Succeeded,
        (S::Running, Transition::Errored { failure, effect, exhausted }) => {
            state_after_error(failure, effect, exhausted)
        }
        (S::Running, Transition::LaidAside) => S::Dead,
        (S::Running, Transition::Suspended) => S::Waiting,
        (S::Running, Transition::HandedOver) => S::HandedOver,

        (S::HandedOver, Transition::Supplied) => S::Succeeded,
        (S::HandedOver, Transition::Declined) => S::Failed,
        (S::HandedOver, Transition::Expired) => S::Expired,
        (S::HandedOver, Transition::RunEnded) => S::Cancelled,

        (S::Waiting, Transition::Resumed) => S::Ready,
        (S::Waiting, Transition::RunEnded) => S::Cancelled,

        (S::Indeterminate, Transition::Happened) => S::Succeeded,
        (S::Indeterminate, Transition::DidNotHappen) => S::Judging,

        (S::Dead, Transition::Requeued) => S::Judging,
        (S::Dead, Transition::Discarded) => S::Discarded,

        _ => return Err(Illegal { state, event }),
    })
}

fn state_after_error(failure: Failure, effect: Effect, exhausted: bool) -> State {
    let again = if exhausted { State::Dead } else { State::Ready };
    match (failure, effect) {
        (Failure::Invalid | Failure::Final, _) => State::Failed,
        (Failure::NotStarted, _) => again,
        (_, Effect::Once) => State::Indeterminate,
        (Failure::Transient | Failure::TimedOut | Failure::OwnerLost, _) => again,
        (Failure::Cancelled, _) => State::Cancelled,
        (Failure::Unknown, _) => State::Dead,
    }
}

impl Transition {
    /// Lists every transition, with every failure and effect, and with and without attempts left.
    pub fn all() -> impl Iterator<Item = Self> {
        let plain = [
            Self::Denied,
            Self::Planned,
            Self::Asked,
            Self::Allowed,
            Self::Accepted,
            Self::Approved,
            Self::Edited,
            Self::Rejected,
            Self::Expired,
            Self::RunEnded,
            Self::Claimed,
            Self::Changed,
            Self::Delayed,
            Self::Answered,
            Self::TurnedAway,
            Self::Succeeded,
            Self::Suspended,
            Self::Resumed,
            Self::HandedOver,
            Self::Supplied,
            Self::Declined,
            Self::LaidAside,
            Self::Happened,
            Self::DidNotHappen,
            Self::Doubted,
            Self::Requeued,
            Self::PutBack,
            Self::Discarded,
        ];
        let effects = [Effect::Read, Effect::Idempotent, Effect::Keyed, Effect::Once];
        let errors = Failure::ALL.into_iter().flat_map(move |failure| {
            effects.into_iter().flat_map(move |effect| {
                [false, true].map(|exhausted| Self::Errored { failure, effect, exhausted })
            })
        });
        plain.into_iter().chain(errors)
    }
}

impl fmt::Display for Transition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Denied => "denied",
            Self::Planned => "planned",
            Self::Asked => "asked about",
            Self::Allowed => "allowed",
            Self::Accepted => "accepted",
            Self::Approved => "approved",
            Self::Edited => "edited",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::RunEnded => "ended with its run",
            Self::Claimed => "claimed",
            Self::Changed => "judged again",
            Self::Delayed => "delayed",
            Self::Answered => "answered by a stage",
            Self::TurnedAway => "refused by a stage",
            Self::Succeeded => "finished",
            Self::Errored { failure, .. } => return write!(formatter, "failed ({failure})"),
            Self::Suspended => "suspended",
            Self::Resumed => "resumed",
            Self::HandedOver => "handed over",
            Self::Supplied => "finished elsewhere",
            Self::Declined => "declined elsewhere",
            Self::LaidAside => "laid aside as a dead letter",
            Self::Happened => "found to have happened",
            Self::DidNotHappen => "found not to have happened",
            Self::Doubted => "put in doubt again",
            Self::Requeued => "requeued",
            Self::PutBack => "put back to the dead letters",
            Self::Discarded => "discarded",
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotStarted => "nothing happened",
            Self::Transient => "it may have acted",
            Self::Invalid => "the model should correct it",
            Self::Final => "for good",
            Self::Cancelled => "given up",
            Self::Unknown => "cause unknown",
            Self::TimedOut => "out of time",
            Self::OwnerLost => "its owner is gone",
        })
    }
}
