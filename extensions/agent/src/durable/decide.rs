//! What a process may do with a run, from its head, its waiting calls and the time. Pure: no clock, no I/O.

use jiff::Timestamp;
use toolwright::journal::{CallRecord, State};

use super::background::rests_in_background;
use super::crashes::{is_suspect, parked_until, rest_of, with_one_more};
use super::head::{Crashes, Head, Phase};
use super::outage::Outage;

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
    /// Says what the journal knows of a call; one that it does not know is submitted anew.
    #[must_use]
    pub fn of(record: Option<&CallRecord>, now: Timestamp) -> Self {
        let Some(record) = record else { return Self::MayGoOn };
        let is_due = || record.due().is_some_and(|due| due <= now);
        match record.state {
            _ if record.answer.is_some() => Self::Answered,
            State::Ready | State::Running | State::Pending | State::HandedOver if !is_due() => {
                Self::Waits
            }
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
    /// It went back to an earlier turn, or its files are not restored yet: nothing.
    Rewound,
    /// It is parked: nothing until then.
    Parked {
        /// The end of that.
        until: Timestamp,
    },
    /// Another driver has it: nothing until then.
    Driven {
        /// The end of the lease.
        until: Timestamp,
    },
    /// Its model cannot be asked: nothing until it is asked again.
    Away {
        /// Since when, and until when.
        outage: Outage,
    },
    /// Its drivers died more than once in its turn: nothing until then.
    Rests {
        /// The end of the rest.
        until: Timestamp,
    },
    /// Its calls wait: nothing.
    Waits,
    /// The driver that died drove it as the one suspect of its process: writes that it is parked.
    Park {
        /// The crashes.
        crashes: Crashes,
    },
    /// Takes the run with the next epoch, and drives it.
    Take {
        /// The crashes so far in this turn.
        crashes: Option<Crashes>,
        /// Whether it is driven only where no other suspect is.
        is_suspect: bool,
    },
}

/// Decides what a process does with a run: `calls` are those that the head says wait, `is_cancelled` whether its end was
/// requested.
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
    if head.rewound.is_some() && !has_to_end {
        return Decision::Rewound;
    }
    if let Some(until) = parked_until(head).filter(|until| !has_to_end && now < *until) {
        return Decision::Parked { until };
    }
    // Only a driver that gives the run up in order takes its lease away.
    let mut crashes = head.crashes.filter(|crashes| crashes.turn == head.current_turn());
    if let Some(lease) = &head.lease {
        if lease.until > now {
            return Decision::Driven { until: lease.until };
        }
        let died = with_one_more(crashes, head.current_turn());
        if lease.suspect && !has_to_end {
            return Decision::Park { crashes: died };
        }
        let until = rest_of(died, lease.until);
        if is_suspect(head.phase, Some(died)) && now < until && !has_to_end {
            return Decision::Rests { until };
        }
        crashes = Some(died);
    }
    if let Some(outage) = head.outage.as_ref().filter(|it| now < it.until && !has_to_end) {
        return Decision::Away { outage: outage.clone() };
    }
    let is_awake = has_to_end
        || (rests_in_background(head) && calls.contains(&CallStatus::Answered))
        || calls.contains(&CallStatus::MayGoOn)
        || calls.iter().all(|call| *call == CallStatus::Answered);
    if head.phase == Phase::Waiting && !is_awake {
        return Decision::Waits;
    }
    // One that has to end runs nothing more of which a process could die.
    let is_suspect = is_suspect(head.phase, crashes) && !has_to_end;
    Decision::Take { crashes, is_suspect }
}
