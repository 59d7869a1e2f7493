//! Decides whether a process drives a run, parks it or leaves it alone, from its head, its waiting calls and the time.
//! Pure: no clock, no I/O.

use jiff::Timestamp;
use toolwright::journal::{CallRecord, State};

use super::background::rests_in_background;
use super::crashes::{is_suspect, parked_until, rest_of, with_one_more};
use super::head::{Crashes, Head, Phase};
use super::outage::Outage;

/// The status of a call that a run waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallStatus {
    /// The call has its answer.
    Answered,
    /// The call may go on: a process that has the services of its run can continue it.
    MayGoOn,
    /// The call waits for a person, a time, or another process.
    Waits,
}

impl CallStatus {
    /// Reads the status from the record of a call. A call without a record may be submitted again.
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

/// The decision of a process about a run that it finds in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// The run has ended. The process does nothing.
    Ended,
    /// The run went back to an earlier turn, or it continues a run that went back and the files are not restored yet.
    /// The process does nothing.
    Rewound,
    /// The run is parked: the process does nothing until `until`.
    Parked {
        /// When the pause ends.
        until: Timestamp,
    },
    /// Another driver has the run: the process does nothing until the lease ends.
    Driven {
        /// When the lease of the other driver ends.
        until: Timestamp,
    },
    /// The model of the run is unavailable: the process does nothing until the next attempt.
    Away {
        /// The outage, with the time of the next attempt.
        outage: Outage,
    },
    /// The drivers of the run died several times in its turn: the process leaves the run alone until `until`.
    Rests {
        /// When the rest ends.
        until: Timestamp,
    },
    /// The calls of the run wait: the process does nothing.
    Waits,
    /// The last driver drove the run as the only suspect of its process, and died. The process that decides records
    /// that the run is parked.
    Park {
        /// The crashes of drivers in this turn.
        crashes: Crashes,
    },
    /// The process takes the run, with the next epoch, and drives it.
    Take {
        /// The crashes of drivers in this turn; `None` if no driver has crashed.
        crashes: Option<Crashes>,
        /// Whether the run is a suspect: the process may drive it only while it drives no other suspect.
        is_suspect: bool,
    },
}

/// Decides whether a process drives a run. `calls` are the statuses of the calls that the head lists as waiting;
/// `is_cancelled` says whether the run was cancelled.
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
    // A run that has to end starts no more calls, so it may end even if its drivers crashed or its model is
    // unavailable.
    let is_late = head.deadline.is_some_and(|deadline| deadline <= now);
    let has_to_end = is_cancelled || is_late;
    if head.rewound.is_some() && !has_to_end {
        return Decision::Rewound;
    }
    if let Some(until) = parked_until(head).filter(|until| !has_to_end && now < *until) {
        return Decision::Parked { until };
    }
    // A driver that releases the run removes its lease, so an expired lease means that the driver died.
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
    // A run that has to end starts no request and no call by which a process could die.
    let is_suspect = is_suspect(head.phase, crashes) && !has_to_end;
    Decision::Take { crashes, is_suspect }
}
