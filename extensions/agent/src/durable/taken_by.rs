//! Distinguishes who takes a run. Pure.

use jiff::Timestamp;

use super::head::Head;

/// Who takes a run. This decides which pauses of the run count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TakenBy {
    /// A worker that has found the run in the journal: every pause counts.
    Worker,
    /// The program that begins or continues it and may itself restart in a loop: an outage of the model still counts.
    Program,
    /// A person who has seen to the cause of its crashes or of the outage: no pause counts.
    Operator,
}

impl TakenBy {
    /// Removes from a head the pauses that do not count for this taker.
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
