//! What a process remembers about runs between looks, because the journal does not record it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use toolwright::CallId;

use super::head::Head;

/// How long a run is left alone after a process took it and made no progress.
pub(super) const PAUSE: SignedDuration = SignedDuration::from_secs(5);

/// The waiting calls of a run with the versions of their records; `None` for a call without a record.
pub(super) type Versions = Vec<(CallId, Option<u64>)>;

/// Drivers of an agent that this process dropped before they had given their leases back.
#[derive(Default)]
pub(crate) struct DroppedDrivers(Mutex<VecDeque<String>>);

impl DroppedDrivers {
    /// The list may forget older drivers: their leases end by themselves.
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
    /// Runs that a driver took without progress: their calls then, and until when they are left alone.
    vain: Mutex<HashMap<String, (Versions, Timestamp)>>,
    /// Heads whose lease comes from a clock that is ahead of this one, and when this process first saw each.
    seen: Mutex<HashMap<String, (u64, Timestamp)>>,
}

impl RunMemory {
    /// Notes that a driver took a run and it still waits for the same calls, although some of them could run: the
    /// circuit of a tool is open, for instance.
    pub(super) fn took_in_vain(&self, run: &str, calls: Versions, now: Timestamp) {
        let until = now.saturating_add(PAUSE).unwrap_or(Timestamp::MAX);
        locked(&self.vain).insert(run.to_owned(), (calls, until));
    }

    /// Whether this process took the run less than `PAUSE` ago without progress, and no call has changed since.
    /// Otherwise forgets that.
    pub(super) fn is_vain(&self, run: &str, calls: &Versions, now: Timestamp) -> bool {
        let mut vain = locked(&self.vain);
        let is_vain = vain.get(run).is_some_and(|(then, until)| then == calls && now < *until);
        if !is_vain {
            vain.remove(run);
        }
        is_vain
    }

    /// Returns a head whose lease ends by the clock of this process. If the driver's clock is ahead, its lease would
    /// end too late by this clock. Such a lease counts as ended when the head has not changed for as long as the driver
    /// had leased the run.
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
