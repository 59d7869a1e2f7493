//! Who takes a run up. Pure.

use jiff::Timestamp;

use super::head::Head;

/// Who takes a run up, and in spite of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TakenBy {
    /// A worker that has come across it.
    Worker,
    /// The program that begins it or goes on with it, perhaps started anew again and again: a model that is away stays so.
    Program,
    /// Who has seen to what its drivers died of, or why its model was away.
    Operator,
}

impl TakenBy {
    /// Takes away of a head what does not keep this one from the run.
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
