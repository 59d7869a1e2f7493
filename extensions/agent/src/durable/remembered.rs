//! What a process remembers of runs from one look to the next, because the journal does not say it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use toolwright::CallId;

use super::head::Head;

/// How long a run is left alone that was taken up in vain.
pub(super) const PAUSE: SignedDuration = SignedDuration::from_secs(5);

/// The calls that a run waits for, at the versions of their records; none for a call that has no record.
pub(super) type Versions = Vec<(CallId, Option<u64>)>;

/// Drivers of an agent that were dropped in this process before they had given their leases back.
#[derive(Default)]
pub(crate) struct DroppedDrivers(Mutex<VecDeque<String>>);

impl DroppedDrivers {
    /// More are never of use: each lease ends by itself.
    const MOST: usize = 1_000;

    pub(super) fn add(&self, driver: &str) {
        let mut dropped = locked(&self.0);
        dropped.truncate(Self::MOST - 1);
        dropped.push_front(driver.to_owned());
    }

    pub(super) fn has(&self, driver: &str) -> bool {
        locked(&self.0).iter().any(|dropped| dropped == driver)
    }
}

#[derive(Default)]
pub(super) struct RunMemory {
    /// Runs whose calls could have gone on and did not, until when they are left alone.
    vain: Mutex<HashMap<String, (Versions, Timestamp)>>,
    /// Heads with leases from a clock that is ahead of this one, and when each was seen first.
    seen: Mutex<HashMap<String, (u64, Timestamp)>>,
}

impl RunMemory {
    /// Notes that a run was driven and waits for the same calls as before, of which some could go on: a tool whose circuit is
    /// open, for instance.
    pub(super) fn took_in_vain(&self, run: &str, calls: Versions, now: Timestamp) {
        let until = now.saturating_add(PAUSE).unwrap_or(Timestamp::MAX);
        locked(&self.vain).insert(run.to_owned(), (calls, until));
    }

    /// Whether to take the run up would be in vain again: nothing has happened to its calls, and not long ago it was.
    pub(super) fn is_vain(&self, run: &str, calls: &Versions, now: Timestamp) -> bool {
        let mut vain = locked(&self.vain);
        let is_vain = vain.get(run).is_some_and(|(then, until)| then == calls && now < *until);
        if !is_vain {
            vain.remove(run);
        }
        is_vain
    }

    /// A head whose lease ends by this clock. A driver whose clock is ahead writes leases that end late by this one: such a
    /// lease ends when the head has not changed here for as long as the driver gave it.
    pub(super) fn by_this_clock(&self, mut head: Head, version: u64, now: Timestamp) -> Head {
        let mut seen = locked(&self.seen);
        match &mut head.lease {
            Some(lease) if head.updated > now => {
                let length = head.updated.duration_until(lease.until);
                let first = seen.entry(head.run.clone()).or_insert((version, now));
                if first.0 != version {
                    *first = (version, now);
                }
                let until = first.1.saturating_add(length).unwrap_or(Timestamp::MAX);
                lease.until = lease.until.min(until);
            }
            _ => {
                seen.remove(&head.run);
            }
        }
        head
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
