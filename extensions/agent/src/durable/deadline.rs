//! Computes the deadline of a run.

use jiff::{SignedDuration, Timestamp};
use toolwright::unstable::runs::JournalAccess;

use crate::limits::Limits;

/// Returns the deadline of a run that begins now to work on a message.
pub(super) fn deadline_of(access: &JournalAccess, limits: Limits) -> Option<Timestamp> {
    let time = SignedDuration::try_from(limits.time?).unwrap_or(SignedDuration::MAX);
    Some(access.now().checked_add(time).unwrap_or(Timestamp::MAX))
}
