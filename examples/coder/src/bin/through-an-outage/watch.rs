//! Starts the runs, begins and ends the provider's outage, restarts the process whenever it dies, and observes the
//! runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::process::{Child, Command};
use tokio::time::sleep;
use toolwright::journal::SqliteStore;
use toolwright_agent::durable::{NewRun, Runs};

use crate::Error;
use crate::ledger::Ledger;
use crate::provider::{CONVERT, Presence, Provider};
use crate::report::{Report, Row};
use crate::work::{self, AGENT, Place};

/// How often the runs are observed.
const LOOK: Duration = Duration::from_millis(100);

/// The trial ends at the latest after twice the outage and this time. The last backoff of a run may be as long as the
/// outage.
const PATIENCE: Duration = Duration::from_secs(120);

/// The parameters of the trial.
pub struct Plan {
    pub outage: Duration,
    pub runs: u16,
}

/// The worker process, which is replaced each time it dies.
struct Workers<'a> {
    place: &'a Place,
    child: Child,
    died: u32,
    killed: u32,
}

impl<'a> Workers<'a> {
    fn start(place: &'a Place) -> Result<Self, Error> {
        Ok(Self { place, child: started(place)?, died: 0, killed: 0 })
    }

    /// Kills the process with SIGKILL, as the operating system does when memory runs out.
    async fn kill(&mut self) -> Result<(), Error> {
        self.child.kill().await?;
        self.killed += 1;
        self.child = started(self.place)?;
        Ok(())
    }

    /// Restarts the process if it has died, and returns whether it had.
    fn replace_dead(&mut self) -> Result<bool, Error> {
        let Some(status) = self.child.try_wait()? else { return Ok(false) };
        if status.code().is_some() {
            return Err(format!("the process that works has ended by itself: {status}").into());
        }
        self.died += 1;
        self.child = started(self.place)?;
        Ok(true)
    }
}

fn started(place: &Place) -> Result<Child, Error> {
    let program = std::env::current_exe()?;
    Ok(Command::new(program).args(place.words()).kill_on_drop(true).spawn()?)
}

/// Drives the runs through the outage, and returns the report.
pub async fn through(plan: &Plan) -> Result<Report, Error> {
    let folder = tempfile::tempdir()?;
    let provider = Provider::start()?;
    let (journal, ledger) = (folder.path().join("calls.db"), folder.path().join("ledger"));
    let place = Place { journal, ledger, url: provider.url.clone() };
    let poison = format!("r{:02}", plan.runs / 2);
    let mut rows = BTreeMap::new();
    let runner = work::runner(&place).await?;
    for run in 0..plan.runs {
        let run = format!("r{run:02}");
        let task = if run == poison { CONVERT } else { "book" };
        runner.submit(NewRun::new(&run, AGENT, format!("{run}: {task} this order"))).await?;
        rows.insert(run, Row::default());
    }
    let runs = Runs::of(Arc::new(SqliteStore::open(&place.journal).await?));
    let mut report = Report::new(rows, poison);
    let mut workers = Workers::start(&place)?;
    let (begun, mut away) = (Instant::now(), Away::new(plan.outage, Arc::clone(&provider)));
    loop {
        sleep(LOOK).await;
        if workers.replace_dead()? {
            note(begun, "the process died of a tool; the next one is started");
        }
        for (run, row) in &mut report.rows {
            row.see(&runs.head(run).await?);
        }
        if let Some(words) = away.go_on(report.all_met_it()) {
            note(begun, words);
            if words == GONE {
                workers.kill().await?;
                note(begun, "the process is killed; the next one is started");
            }
        }
        let is_over = away.is_over() && report.is_over();
        if is_over || begun.elapsed() > plan.outage * 2 + PATIENCE {
            break;
        }
    }
    workers.child.kill().await?;
    report.took = begun.elapsed();
    report.away = away.lasted();
    report.refused = provider.refused();
    (report.died, report.killed) = (workers.died, workers.killed);
    report.lines = Ledger(place.ledger.clone()).lines()?;
    Ok(report)
}

fn note(begun: Instant, words: &str) {
    eprintln!("{:>6.1} s  {words}", begun.elapsed().as_secs_f64());
}

const GONE: &str = "nothing listens at the address of the provider";

/// The outage. In its first half the provider is busy, and in its second half it refuses connections. The outage lasts
/// until every run but the crashing one has had a failed request.
struct Away {
    outage: Duration,
    provider: Arc<Provider>,
    since: Option<Instant>,
    until: Option<Instant>,
}

impl Away {
    fn new(outage: Duration, provider: Arc<Provider>) -> Self {
        Self { outage, provider, since: None, until: None }
    }

    fn is_over(&self) -> bool {
        self.until.is_some()
    }

    fn lasted(&self) -> Duration {
        self.since.zip(self.until).map_or(Duration::ZERO, |(since, until)| until - since)
    }

    /// Moves the outage to its next stage when it is time, and returns a description of the change.
    fn go_on(&mut self, all_met_it: bool) -> Option<&'static str> {
        let since = match (self.since, self.provider.presence()) {
            (None, Presence::Before) => return None,
            (None, _) => {
                self.since = Some(Instant::now());
                return Some("the provider is busy");
            }
            (Some(since), _) => since,
        };
        let elapsed = since.elapsed();
        match self.provider.presence() {
            Presence::Busy if elapsed >= self.outage / 2 => {
                self.provider.be(Presence::Gone);
                Some(GONE)
            }
            Presence::Gone if elapsed >= self.outage && all_met_it => {
                self.provider.be(Presence::Back);
                self.until = Some(Instant::now());
                Some("the provider is back")
            }
            _ => None,
        }
    }
}
