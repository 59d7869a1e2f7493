//! Runs that wait, after a worker has read their state. The worker skips such a run until one of its calls changes, its
//! time comes, or a slow rotation over all such runs reaches it. No I/O.

use std::collections::{HashMap, HashSet, VecDeque};

use jiff::Timestamp;
use toolwright::CallId;

/// The decision of a worker about a run after it has read the run's state.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::durable) enum Look {
    /// The worker drives the run.
    Due,
    /// The run rests until one of these calls changes, or until this time.
    Rests { until: Option<Timestamp>, calls: Vec<CallId> },
    /// The worker reads the run again later: another process drives it, a driver took it without progress a moment ago,
    /// or it is a suspect and this process drives another suspect.
    Again,
}

/// The number of parts into which the rotation divides the resting runs. It wakes one part at a time.
const PARTS: usize = 16;

/// The minimum number of runs that are woken at a time.
const LEAST: usize = 32;

#[derive(Default)]
pub(super) struct Resting {
    runs: HashMap<String, Entry>,
    /// The runs in the order in which they were last read, each with the number of that reading.
    order: VecDeque<(String, u64)>,
    looks: u64,
    /// The runs whose state was read at least once.
    seen: HashSet<String>,
}

struct Entry {
    until: Option<Timestamp>,
    calls: Vec<CallId>,
    look: u64,
}

impl Resting {
    /// Drops the runs that are no longer listed.
    pub(super) fn keep(&mut self, listed: &HashSet<&str>) {
        self.runs.retain(|run, _| listed.contains(run.as_str()));
        self.seen.retain(|run| listed.contains(run.as_str()));
    }

    /// Whether a run rests: as far as this worker knows, nothing has happened to it.
    pub(super) fn has(&self, run: &str, now: Timestamp) -> bool {
        let entry = self.runs.get(run);
        entry.is_some_and(|entry| entry.until.is_none_or(|until| now < until))
    }

    /// Notes that the worker reads a run; returns whether this is the first time.
    pub(super) fn look_at(&mut self, run: &str) -> bool {
        self.runs.remove(run);
        self.seen.insert(run.to_owned())
    }

    /// Lets a run rest after the worker has read it.
    pub(super) fn leave(&mut self, run: &str, until: Option<Timestamp>, calls: Vec<CallId>) {
        self.looks += 1;
        self.runs.insert(run.to_owned(), Entry { until, calls, look: self.looks });
        self.order.push_back((run.to_owned(), self.looks));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Wakes the runs that rest for a call which no longer waits.
    pub(super) fn wake(&mut self, waiting: &HashSet<CallId>) {
        self.runs.retain(|_, entry| entry.calls.iter().all(|call| waiting.contains(call)));
    }

    /// Wakes some of the runs; those that were read the longest ago come first.
    pub(super) fn wake_some(&mut self) {
        let mut left = LEAST.max(self.runs.len().div_ceil(PARTS));
        while left > 0
            && let Some((run, look)) = self.order.pop_front()
        {
            // The run was read again since this entry was made.
            if self.runs.get(&run).is_some_and(|entry| entry.look == look) {
                self.runs.remove(&run);
                left -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn resting(runs: usize) -> (Resting, Vec<CallId>) {
        let mut resting = Resting::default();
        let calls: Vec<CallId> = (0..runs).map(|_| CallId::new()).collect();
        for (run, call) in calls.iter().enumerate() {
            assert!(resting.look_at(&format!("r{run}")));
            resting.leave(&format!("r{run}"), None, vec![*call]);
        }
        (resting, calls)
    }

    fn awake(resting: &Resting, runs: usize) -> Vec<usize> {
        (0..runs).filter(|run| !resting.has(&format!("r{run}"), NOW)).collect()
    }

    #[test]
    fn a_run_rests_until_its_time_or_until_one_of_its_calls_no_longer_waits() {
        let (mut resting, calls) = resting(3);
        resting.leave("late", Some(NOW), Vec::new());
        assert!(!resting.has("late", NOW) && awake(&resting, 3).is_empty());
        resting.wake(&calls.iter().copied().filter(|it| *it != calls[1]).collect());
        assert_eq!(awake(&resting, 3), [1]);
    }

    #[test]
    fn every_run_is_looked_at_again_in_turn() {
        let (mut resting, calls) = resting(960);
        let mut looked = Vec::new();
        for _ in 0..PARTS {
            resting.wake_some();
            let awake = awake(&resting, 960);
            assert_eq!(awake.len(), 60, "a part each time");
            for run in &awake {
                assert!(!resting.look_at(&format!("r{run}")));
                resting.leave(&format!("r{run}"), None, vec![calls[*run]]);
            }
            looked.extend(awake);
        }
        assert_eq!(looked, (0..960).collect::<Vec<_>>(), "those that were not looked at first");
    }

    #[test]
    fn a_run_that_is_no_longer_listed_is_forgotten() {
        let (mut resting, _) = resting(2);
        resting.keep(&HashSet::from(["r1"]));
        assert_eq!(awake(&resting, 2), [0]);
        assert!(resting.look_at("r0") && !resting.look_at("r1"));
    }
}
