//! Drives every run that no other process drives, and runs the workers of the executors.
//!
//! In each pass, a worker reads the list of open runs, and the head of each run that does not rest. A run rests while
//! it waits. A run that this process has submitted is taken without reading the list. So a new run begins as fast
//! beside thousands of waiting runs as beside ten.

mod going;
mod listing;
mod pace;
mod resting;

use std::collections::HashSet;
use std::pin::pin;
use std::time::Duration;

use futures::future::{Either, join_all, select};
use tokio::time::{Instant, sleep, timeout};

use jiff::Timestamp;
use toolwright::journal::{Filter, Page, State};

use self::going::Going;
use self::listing::Listing;
use self::pace::{Pace, REST};
pub(super) use self::resting::Look;
use self::resting::Resting;
use super::RunError;
use super::keys;
use super::runner::{Inner, LOOK_AGAIN, Runner};

/// How many calls are read from the journal in one page.
const PAGE: usize = 5_000;

/// The states of calls without an answer.
const OPEN: [State; 7] = [
    State::Pending,
    State::Ready,
    State::Running,
    State::Indeterminate,
    State::Planned,
    State::Waiting,
    State::HandedOver,
];

/// What a worker remembers between two passes: the last list of open runs, the runs that rest, when it last checked
/// their calls, and when it last read some of them again.
#[derive(Default)]
struct RestingRuns {
    listing: Listing,
    runs: Resting,
    calls: Pace,
    parts: Pace,
}

/// A run that has not ended.
struct OpenRun {
    since: Timestamp,
    run: String,
}

impl Runner {
    /// Drives every run of these agents whose driver is gone or whose calls may run, the oldest run first. Also runs
    /// the decided calls of the journal. Returns when every executor is drained and its runs have stopped, at most one
    /// lease later.
    ///
    /// Spawn this method once in each process; any number of processes may work on one journal. Each run has a task of
    /// its own; the calls of at most [a hundred](super::RunnerBuilder::runs_at_once) runs run at once.
    ///
    /// A run that cannot continue (its services could not be made, a tool is missing, the disk is full) is reported to
    /// [`on_failure`](super::RunnerBuilder::on_failure) and retried later; the other runs continue.
    ///
    /// # Errors
    /// At once, if the services that the application gives a run are not those that its executor declares, or the
    /// journal cannot be read.
    pub async fn work(&self) -> Result<(), RunError> {
        for OpenRun { run, .. } in self.0.open_runs(&mut Listing::default()).await? {
            match self.0.check_services(&run).await {
                Err(error @ RunError::Start(_)) => return Err(error),
                Err(error) => self.0.failed(&run, &error),
                Ok(()) => {}
            }
        }
        let mut going = Going::default();
        let is_done = {
            let given_up = pin!(self.drained_for_a_lease());
            let working = pin!(self.work_on(&mut going));
            matches!(select(working, given_up).await, Either::Left(_))
        };
        if !is_done {
            let lease = self.0.access.lease;
            for run in going.given_up() {
                self.0.failed(&run, &RunError::NotReleased { run: run.clone(), lease });
            }
        }
        Ok(())
    }

    /// Drives runs until every executor is drained and every run in progress has ended or stopped.
    async fn work_on(&self, going: &mut Going) {
        let workers = self.0.agents.values().filter_map(|agent| agent.0.executor.worker());
        let workers: Vec<_> = workers.collect();
        let drained = pin!(join_all(workers.iter().map(toolwright::Worker::work)));
        {
            let looking = pin!(self.look(going));
            select(drained, looking).await;
        }
        // A drained executor ends or releases its calls, so that each run ends or stops.
        while let Some((run, driven)) = going.next().await {
            self.report(going, &run, driven);
        }
    }

    /// Completes one lease after the last call of the drained executors. Other processes take the runs whose drivers
    /// have not stopped by then.
    async fn drained_for_a_lease(&self) {
        join_all(self.0.agents.values().map(|agent| agent.0.executor.wait_until_drained())).await;
        sleep(self.0.access.lease).await;
    }

    /// Searches for runs to drive, without end. `going` drives the runs that this method takes.
    async fn look(&self, going: &mut Going) {
        let (mut rested, submitted) = (RestingRuns::default(), self.0.submitted.listen());
        loop {
            // Subscribe before reading, so that no change is missed.
            let changed = self.0.access.store.changed();
            let took = self.take_up(going, &mut rested).await.unwrap_or_else(|error| {
                self.0.failed("-", &error);
                Duration::ZERO
            });
            let rest = took * REST;
            let mut pause = pin!(async {
                sleep(rest).await;
                let _ = timeout(LOOK_AGAIN, changed).await;
            });
            loop {
                let is_full = going.len() >= self.0.at_once;
                // The order counts: submitting a run changes the journal, which ends the pause too, and the submitted
                // run has to be driven first.
                let (run, driven) = tokio::select! {
                    biased;
                    runs = submitted.next() => {
                        for run in runs {
                            self.take_submitted(&run, going, &mut rested).await;
                        }
                        continue;
                    }
                    Some(ended) = going.next(), if going.len() > 0 => ended,
                    () = pause.as_mut() => break,
                };
                self.report(going, &run, driven);
                if is_full {
                    // Another run may have waited for the slot that is free now.
                    break;
                }
            }
        }
    }

    /// Starts to drive a run that this process has submitted, if the number of runs at once allows it. If not, the
    /// worker takes the run in a later round.
    async fn take_submitted(&self, run: &str, going: &mut Going, rested: &mut RestingRuns) {
        if going.len() >= self.0.at_once || going.has(run) {
            return;
        }
        rested.runs.look_at(run);
        match self.0.look_at(run).await {
            Ok(Look::Due) => going.drive(self.clone(), run.to_owned()),
            Ok(Look::Rests { until, calls }) => rested.runs.leave(run, until, calls),
            Ok(Look::Again) => {}
            Err(error) => self.report(going, run, Err(error)),
        }
    }

    /// Starts to drive the runs that are due, as far as the number of runs at once allows it. Returns how long that
    /// took, except for the first reading of each run and the readings of resting runs, which have a pace of their own.
    async fn take_up(
        &self,
        going: &mut Going,
        rested: &mut RestingRuns,
    ) -> Result<Duration, RunError> {
        self.0.wake(rested).await?;
        let (begun, mut once, mut again) = (Instant::now(), Duration::ZERO, Duration::ZERO);
        let listed = self.0.open_runs(&mut rested.listing).await?;
        let names = listed.iter().map(|it| it.run.as_str()).collect();
        rested.runs.keep(&names);
        going.keep(&names);
        self.0.remembered.keep(&names);
        for OpenRun { run, .. } in listed {
            if going.len() >= self.0.at_once {
                break;
            }
            if going.has(&run)
                || going.is_left_alone(&run)
                || rested.runs.has(&run, self.0.access.now())
            {
                continue;
            }
            let (looked, is_first) = (Instant::now(), rested.runs.look_at(&run));
            let found = self.0.look_at(&run).await;
            let took = looked.elapsed();
            match found {
                Ok(Look::Due) => going.drive(self.clone(), run),
                Ok(Look::Rests { until, calls }) => {
                    rested.runs.leave(&run, until, calls);
                    *(if is_first { &mut once } else { &mut again }) += took;
                }
                Ok(Look::Again) => {}
                Err(error) => self.report(going, &run, Err(error)),
            }
        }
        rested.parts.note_done(again);
        Ok(begun.elapsed().saturating_sub(once + again))
    }

    /// Handles the result of driving a run: a run that failed is left alone for a while.
    fn report(&self, going: &mut Going, run: &str, driven: Result<(), RunError>) {
        match driven {
            Ok(()) => going.forget(run),
            Err(error @ RunError::ModelUnreachable { .. }) => {
                // The head of the run says when the model is asked again.
                self.0.failed(run, &error);
                going.forget(run);
            }
            Err(error) if error.goes_on_later() => going.forget(run),
            Err(RunError::ShuttingDown { .. }) => {}
            // The run has just been parked; its head says until when.
            Err(error @ RunError::Parked { .. }) => self.0.failed(run, &error),
            Err(error) => {
                self.0.failed(run, &error);
                going.leave_alone(run);
            }
        }
    }
}

impl Inner {
    /// Wakes the resting runs whose calls no longer wait, and in rotation some of the others.
    async fn wake(&self, rested: &mut RestingRuns) -> Result<(), RunError> {
        if rested.runs.is_empty() {
            return Ok(());
        }
        if rested.calls.is_due() {
            let begun = Instant::now();
            rested.runs.wake(&self.waiting_calls().await?);
            rested.calls.note_done(begun.elapsed());
        }
        // No notice arrives when a waiting run is cancelled or a parked one is resumed.
        if rested.parts.is_due() {
            rested.runs.wake_some();
        }
        Ok(())
    }

    /// Lists the calls that have no answer and wait for a person, a time or another process.
    async fn waiting_calls(&self) -> Result<HashSet<toolwright::CallId>, RunError> {
        let (now, mut waiting) = (self.access.now(), HashSet::new());
        let filter = Filter { states: OPEN.to_vec(), ..Filter::default() };
        let mut page = Page::first(PAGE);
        loop {
            let found = self.access.store.summaries(&filter, page).await?;
            let waits = found.calls.iter().filter(|it| it.due.is_none_or(|due| now < due));
            waiting.extend(waits.map(|it| it.id));
            let Some(last) = found.next else { return Ok(waiting) };
            page = page.after(last);
        }
    }

    /// Lists the open runs of these agents, the oldest first.
    async fn open_runs(&self, listing: &mut Listing) -> Result<Vec<OpenRun>, RunError> {
        let mut runs = Vec::new();
        let documents = self.access.store.documents(keys::OPEN).await?;
        for (run, listed) in listing.read(&documents) {
            let of_head;
            let agent = match &listed.agent {
                Some(name) => Some(name),
                None => match self.head(run).await {
                    Ok((head, _)) => {
                        of_head = head.agent;
                        Some(&of_head)
                    }
                    Err(RunError::Store(error)) => return Err(error.into()),
                    Err(error) => {
                        self.failed(run, &error);
                        None
                    }
                },
            };
            let agent = agent.and_then(|name| self.agents.get(name));
            // A run whose executor is drained would be released as soon as it is taken.
            if agent.is_some_and(|agent| !agent.0.executor.is_draining()) {
                runs.push(OpenRun { since: listed.since, run: run.to_owned() });
            }
        }
        runs.sort_by(|one, other| (one.since, &one.run).cmp(&(other.since, &other.run)));
        Ok(runs)
    }

    fn failed(&self, run: &str, error: &RunError) {
        tracing::warn!(run, %error, "a run does not go on");
        if let Some(notify) = &self.on_failure {
            notify(run, error);
        }
    }
}
