//! Distinguishes the takers of a run: a worker, a program and a person. Pure.

use jiff::Timestamp;

use super::head::Head;

/// Who takes a run. This decides which pauses of the run count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TakenBy {
    /// A worker that has found the run in the journal: every pause applies.
    Worker,
    /// The program that begins or continues the run. The program may restart in a loop, so the pause of an outage
    /// applies, but no other pause does.
    Program,
    /// A person who has dealt with the cause of the run's crashes or of the outage: no pause applies.
    Operator,
}

impl TakenBy {
    /// Returns the head without the pauses that do not apply for this taker.
    pub(super) fn admits(self, mut head: Head, now: Timestamp) -> Head {
        if self == Self::Worker {
            return head;
        }
        head.lease = head.lease.filter(|lease| lease.until > now);
        (head.parked, head.crashes) = (None, None);
        if let Some(outage) = head.outage.as_mut().filter(|_| self == Self::Operator) {
            outage.until = outage.until.min(now);
        }
        head
    }
}
