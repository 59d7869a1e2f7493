//! What a process may do with a run, from its head, its waiting calls and the time. Pure: no clock, no I/O.

use jiff::Timestamp;
use toolwright::journal::{CallRecord, State};

use super::head::{Crashes, Head, Phase};

/// So many drivers may die in one turn; then the run waits for an operator.
pub const MAX_CRASHES: u32 = 3;

/// What becomes of a call that a run waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallStatus {
    /// It has its answer.
    Answered,
    /// Whoever has its run's services can go on with it.
    MayGoOn,
    /// It waits for a person, a time, or another process.
    Waits,
}

impl CallStatus {
    /// What the journal knows of a call; one that it does not know is submitted anew.
    #[must_use]
    pub fn of(record: Option<&CallRecord>, now: Timestamp) -> Self {
        let Some(record) = record else { return Self::MayGoOn };
        let is_due = || record.due().is_some_and(|due| due <= now);
        match record.state {
            _ if record.answer.is_some() => Self::Answered,
            State::Ready | State::Running | State::Pending if !is_due() => Self::Waits,
            State::Indeterminate | State::Planned | State::Waiting => Self::Waits,
            _ => Self::MayGoOn,
        }
    }
}

/// What a process does with a run that it comes across.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// The run has ended: nothing.
    Ended,
    /// It is parked for an operator: nothing.
    Parked,
    /// Another driver has it: nothing until then.
    Driven {
        /// The end of the lease.
        until: Timestamp,
    },
    /// Its calls wait: nothing.
    Waits,
    /// Too many drivers died in its turn: writes that it is parked.
    Park {
        /// The crashes.
        crashes: Crashes,
    },
    /// Takes the run with the next epoch, and drives it.
    Take {
        /// The crashes so far in this turn.
        crashes: Option<Crashes>,
    },
}

/// What a process does with a run: `calls` are those that the head says wait, `is_cancelled` whether somebody has asked for
/// its end.
///
/// ```
/// use toolwright_agent::durable::{Decision, Head, decide};
///
/// fn is_for_me(head: &Head, now: jiff::Timestamp) -> bool {
///     matches!(decide(head, &[], false, now), Decision::Take { .. })
/// }
/// # let _ = is_for_me;
/// ```
#[must_use]
pub fn decide(head: &Head, calls: &[CallStatus], is_cancelled: bool, now: Timestamp) -> Decision {
    if head.phase == Phase::Ended {
        return Decision::Ended;
    }
    // Nothing of a run that has to end runs any more, so that it may end whatever its drivers died of.
    let is_late = head.deadline.is_some_and(|deadline| deadline <= now);
    let has_to_end = is_cancelled || is_late;
    if head.parked.is_some() && !has_to_end {
        return Decision::Parked;
    }
    // Only a driver that gives the run up in order takes its lease away.
    let mut crashes = head.crashes.filter(|crashes| crashes.turn == head.current_turn());
    if let Some(lease) = &head.lease {
        if lease.until > now {
            return Decision::Driven { until: lease.until };
        }
        let before = crashes.map_or(0, |crashes| crashes.drivers);
        let died = Crashes { turn: head.current_turn(), drivers: before + 1 };
        if died.drivers >= MAX_CRASHES && !has_to_end {
            return Decision::Park { crashes: died };
        }
        crashes = Some(died);
    }
    let is_awake = has_to_end
        || calls.contains(&CallStatus::MayGoOn)
        || calls.iter().all(|call| *call == CallStatus::Answered);
    if head.phase == Phase::Waiting && !is_awake {
        return Decision::Waits;
    }
    Decision::Take { crashes }
}
