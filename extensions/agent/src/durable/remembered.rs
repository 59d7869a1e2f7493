//! Notes of a process about runs, for its next reading of the journal. The journal does not record them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use toolwright::CallId;

use super::head::{Head, Lease};

/// How long a run is left alone after a process took the run and made no progress.
pub(super) const PAUSE: SignedDuration = SignedDuration::from_secs(5);

/// The waiting calls of a run with the versions of their records; the version is `None` for a call without a record.
pub(super) type Versions = Vec<(CallId, Option<u64>)>;

/// The drivers of an agent's runs in this process.
#[derive(Default)]
pub(crate) struct LocalDrivers {
    /// The ids of the drivers that are at work.
    working: Mutex<HashSet<String>>,
    /// The ids of the drivers that were dropped before they had released their leases, the newest first.
    dropped: Mutex<VecDeque<String>>,
}

impl LocalDrivers {
    /// The maximum number of dropped drivers in the list. Older ones are forgotten: their leases expire by themselves.
    const MOST: usize = 1_000;

    pub(super) fn begin(&self, driver: &str) {
        locked(&self.working).insert(driver.to_owned());
    }

    /// Notes that a driver is gone. With `gives_back`, the driver's lease counts as ended from now on.
    pub(super) fn end(&self, driver: &str, gives_back: bool) {
        locked(&self.working).remove(driver);
        if gives_back {
            let mut dropped = locked(&self.dropped);
            dropped.truncate(Self::MOST - 1);
            dropped.push_front(driver.to_owned());
        }
    }

    /// Returns a lease as this process sees it: `None` if its driver was dropped. If the driver still works in this
    /// process, the lease counts as valid until `until` at least. The driver may be late to renew the lease, for
    /// instance on a busy machine, and may be about to record an answer that was paid for.
    pub(super) fn now_of(&self, lease: Lease, until: Timestamp) -> Option<Lease> {
        if locked(&self.dropped).contains(&lease.driver) {
            return None;
        }
        let is_at_work = locked(&self.working).contains(&lease.driver);
        let until = if is_at_work { lease.until.max(until) } else { lease.until };
        Some(Lease { until, ..lease })
    }
}

#[derive(Default)]
pub(super) struct RunMemory {
    /// The runs that a driver took without progress, with the calls for which each run waited and the time until which
    /// the run is not taken again.
    vain: Mutex<HashMap<String, (Versions, Timestamp)>>,
    /// The runs whose head was written by a clock ahead of this process's clock, with the version of the head and the
    /// time at which this process first saw it.
    seen: Mutex<HashMap<String, (u64, Timestamp)>>,
}

impl RunMemory {
    /// Notes that a driver took a run without progress. Either the run still waits for the same calls, although some of
    /// them were due; for instance, the circuit breaker of a tool is open. Or the run has ended, waits for no calls, and
    /// cannot be listed as ended yet.
    pub(super) fn took_in_vain(&self, run: &str, calls: Versions, now: Timestamp) {
        let until = now.saturating_add(PAUSE).unwrap_or(Timestamp::MAX);
        locked(&self.vain).insert(run.to_owned(), (calls, until));
    }

    /// Whether this process took the run less than `PAUSE` ago without progress, and no call has changed since.
    /// Otherwise forgets that it took the run.
    pub(super) fn is_vain(&self, run: &str, calls: &Versions, now: Timestamp) -> bool {
        let mut vain = locked(&self.vain);
        let is_vain = vain.get(run).is_some_and(|(then, until)| then == calls && now < *until);
        if !is_vain {
            vain.remove(run);
        }
        is_vain
    }

    /// Drops the notes about runs that are no longer listed as open, so that the notes do not grow without bound.
    pub(super) fn keep(&self, listed: &HashSet<&str>) {
        locked(&self.vain).retain(|run, _| listed.contains(run.as_str()));
        locked(&self.seen).retain(|run, _| listed.contains(run.as_str()));
    }

    /// Returns a head whose lease ends by the clock of this process. If the driver's clock is ahead, the lease would
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_about_runs_that_are_no_longer_listed_are_dropped() {
        let (memory, now) = (RunMemory::default(), Timestamp::UNIX_EPOCH);
        for run in ["r1", "r2"] {
            memory.took_in_vain(run, Versions::new(), now);
            locked(&memory.seen).insert(run.to_owned(), (1, now));
        }
        memory.keep(&HashSet::from(["r2"]));
        assert!(memory.is_vain("r2", &Versions::new(), now));
        assert!(!memory.is_vain("r1", &Versions::new(), now));
        assert_eq!(locked(&memory.seen).keys().collect::<Vec<_>>(), ["r2"]);
    }
}
