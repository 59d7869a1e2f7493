//! The runs that a worker drives, each in a task of its own, and the runs that it leaves alone after a failure.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use tokio::task::{Id, JoinSet};
use tokio::time::Instant;

use crate::durable::{RunError, Runner};

/// How long a run is left alone after its first failure. The pause doubles with each further failure in succession.
const PAUSE: Duration = Duration::from_secs(5);

/// The maximum length of the pause after failures.
const LONGEST: Duration = Duration::from_mins(5);

#[derive(Default)]
pub(super) struct Going {
    /// The tasks that drive runs. Dropping the set aborts them.
    tasks: JoinSet<Result<(), RunError>>,
    here: HashSet<String>,
    runs: HashMap<Id, String>,
    /// Until when a run is left alone, and how often in succession it failed.
    left_alone: HashMap<String, (Instant, u32)>,
}

impl Going {
    pub(super) fn drive(&mut self, agents: Runner, run: String) {
        let id = run.clone();
        let task = self.tasks.spawn(async move { agents.0.worked_on(&run).await });
        self.here.insert(id.clone());
        self.runs.insert(task.id(), id);
    }

    /// Returns the next run that ends, waits or fails; `None` if no run is driven.
    pub(super) async fn next(&mut self) -> Option<(String, Result<(), RunError>)> {
        loop {
            let (id, driven) = match self.tasks.join_next_with_id().await? {
                Ok((id, driven)) => (id, Some(driven)),
                Err(error) => (error.id(), None),
            };
            let Some(run) = self.runs.remove(&id) else { continue };
            self.here.remove(&run);
            // The executor catches panics of tools, so a listener or a model has panicked.
            let panicked = || RunError::Panicked { run: run.clone() };
            let driven = driven.unwrap_or_else(|| Err(panicked()));
            return Some((run, driven));
        }
    }

    /// Aborts the drivers of all runs in progress, and returns the ids of those runs.
    pub(super) fn given_up(&mut self) -> HashSet<String> {
        self.tasks.abort_all();
        std::mem::take(&mut self.here)
    }

    pub(super) fn len(&self) -> usize {
        self.here.len()
    }

    pub(super) fn has(&self, run: &str) -> bool {
        self.here.contains(run)
    }

    pub(super) fn is_left_alone(&self, run: &str) -> bool {
        self.left_alone.get(run).is_some_and(|(until, _)| *until > Instant::now())
    }

    /// Leaves a run that failed alone for a while.
    pub(super) fn leave_alone(&mut self, run: &str) {
        let before = self.left_alone.get(run).map_or(0, |(_, times)| *times);
        let pause = LONGEST.min(PAUSE.saturating_mul(1 << before.min(6)));
        self.left_alone.insert(run.to_owned(), (Instant::now() + pause, before + 1));
    }

    /// Forgets the failures of runs that are no longer listed as open: they went on elsewhere.
    pub(super) fn keep(&mut self, listed: &HashSet<&str>) {
        self.left_alone.retain(|run, _| listed.contains(run.as_str()));
    }

    /// Forgets that a run failed.
    pub(super) fn forget(&mut self, run: &str) {
        self.left_alone.remove(run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_failure_of_a_run_that_is_no_longer_listed_is_forgotten() {
        let mut going = Going::default();
        going.leave_alone("r1");
        going.leave_alone("r2");
        going.keep(&HashSet::from(["r2"]));
        assert!(!going.is_left_alone("r1") && going.is_left_alone("r2"));
        assert_eq!(going.left_alone.len(), 1);
    }
}
