//! A copy of the lease of a claimed call, for the task that runs the call: the end of the lease, and whether the tool
//! has begun.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The right to run a call, as its owner last read or renewed it. The journal is authoritative; the executor checks
/// this copy before the tool begins.
#[derive(Debug)]
pub(crate) struct Claim {
    begun: AtomicBool,
    /// The end of the lease, in milliseconds since 1970.
    until: AtomicI64,
}

impl Claim {
    /// Makes a claim that does not expire, for a call that no other process can run.
    pub(crate) fn unbounded() -> Self {
        Self::until(None)
    }

    pub(crate) fn until(lease: Option<Timestamp>) -> Self {
        let until = lease.map_or(i64::MAX, Timestamp::as_millisecond);
        Self { begun: AtomicBool::new(false), until: AtomicI64::new(until) }
    }

    pub(crate) fn renew(&self, until: Timestamp) {
        self.until.store(until.as_millisecond(), Ordering::SeqCst);
    }

    pub(crate) fn has_lapsed(&self, now: Timestamp) -> bool {
        self.until.load(Ordering::SeqCst) <= now.as_millisecond()
    }

    pub(crate) fn begins(&self) {
        self.begun.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_begun(&self) -> bool {
        self.begun.load(Ordering::SeqCst)
    }
}

/// Who runs a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum By {
    /// The caller runs the call and waits for its answer; if the caller stops, the call is given up.
    Caller,
    /// A worker runs the call; if the worker stops, other workers take the call over.
    Worker,
}
