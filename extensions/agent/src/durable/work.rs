//! Takes up every run that nobody drives, beside the workers of the executors.

use std::collections::{HashMap, HashSet};
use std::pin::pin;
use std::time::Duration;

use futures::future::{Either, join_all, select};
use futures::stream::{FuturesUnordered, StreamExt as _};
use tokio::time::{Instant, timeout};

use super::RunError;
use super::agents::{Agents, Inner, LOOK_AGAIN};
use super::keys;
use super::progress::Progress;

/// How long a run is left alone that could not be gone on with.
const PAUSE: Duration = Duration::from_secs(5);

impl Agents {
    /// Takes up every run of these agents whose driver is gone and every run whose calls may go on, and carries out the decided
    /// calls of the journal, until every executor is drained. Spawn it once; any number of processes may work on one journal.
    ///
    /// # Errors
    /// At once, where the services of a run that goes on cannot be made here, or the journal cannot be read.
    pub async fn work(&self) -> Result<(), RunError> {
        for run in self.0.open_runs().await? {
            match self.0.provided(&run).await {
                Err(error @ (RunError::Services { .. } | RunError::Start(_))) => return Err(error),
                Err(error) => self.0.failed(&run, &error),
                Ok(()) => {}
            }
        }
        let workers = self.0.agents.values().filter_map(|agent| agent.0.executor.worker());
        let workers: Vec<_> = workers.collect();
        let drained = pin!(join_all(workers.iter().map(toolwright::Worker::work)));
        let mut going = FuturesUnordered::new();
        {
            let looking = pin!(self.look(&mut going));
            select(drained, looking).await;
        }
        // Calls of a drained executor end or are released, so that each run ends or stops.
        while going.next().await.is_some() {}
        Ok(())
    }

    /// Looks for runs for ever; those that it takes go on in `going`.
    async fn look(&self, going: &mut FuturesUnordered<Driving>) {
        let mut here: HashSet<String> = HashSet::new();
        let mut left_alone: HashMap<String, Instant> = HashMap::new();
        loop {
            // Asked for before the look, so that no change is missed.
            let changed = self.0.access.store.changed();
            left_alone.retain(|_, until| *until > Instant::now());
            match self.0.open_runs().await {
                Ok(runs) => {
                    for run in runs {
                        if !left_alone.contains_key(&run) && here.insert(run.clone()) {
                            going.push(self.clone().driving(run));
                        }
                    }
                }
                Err(error) => self.0.failed("-", &error),
            }
            let mut pause = pin!(timeout(LOOK_AGAIN, changed));
            loop {
                let ended = match select(going.next(), pause.as_mut()).await {
                    Either::Left((Some(ended), _)) => ended,
                    Either::Left((None, pause)) => {
                        let _ = pause.await;
                        break;
                    }
                    Either::Right(_) => break,
                };
                let (run, driven) = ended;
                here.remove(&run);
                match driven {
                    Ok(_) => {}
                    Err(error) if error.is_elsewhere() => {}
                    // Written by hand or by an operator only.
                    Err(RunError::Parked { .. } | RunError::ShuttingDown { .. }) => {}
                    Err(error) => {
                        self.0.failed(&run, &error);
                        left_alone.insert(run, Instant::now() + PAUSE);
                    }
                }
            }
        }
    }

    fn driving(self, run: String) -> Driving {
        Box::pin(async move {
            let driven = match self.0.taken(&run, false).await {
                Ok(Ok(driver)) => driver.drive().await,
                Ok(Err(progress)) => Ok(progress),
                Err(error) => Err(error),
            };
            (run, driven)
        })
    }
}

type Driving = futures::future::BoxFuture<'static, (String, Result<Progress, RunError>)>;

impl Inner {
    /// The runs of these agents that go on.
    async fn open_runs(&self) -> Result<Vec<String>, RunError> {
        let mut runs = Vec::new();
        for document in self.access.store.documents(keys::OPEN).await? {
            let Some(run) = document.key.strip_prefix(keys::OPEN) else { continue };
            let listed: Result<serde_json::Value, _> = serde_json::from_str(&document.text);
            let agent = listed.map_err(|error| RunError::damaged(&document.key, error))?;
            let agent = agent["agent"].as_str().and_then(|name| self.agents.get(name));
            // A run of a drained executor would be given back as soon as it is taken.
            if agent.is_some_and(|agent| !agent.0.executor.is_draining()) {
                runs.push(run.to_owned());
            }
        }
        Ok(runs)
    }

    fn failed(&self, run: &str, error: &RunError) {
        if let Some(notify) = &self.on_failure {
            notify(run, error);
        }
    }
}
