//! The process that works on the runs. It is a separate process, so that it can crash.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::sleep;
use toolwright::journal::{Journal, SqliteStore};
use toolwright::{Executor, OnNoApprover, Output, Reconciled, Registry, ToolError, tool};
use toolwright_agent::Agent;
use toolwright_agent::durable::{RunError, Runner};
use toolwright_agent::http::HttpModel;

use crate::Error;
use crate::ledger::Ledger;

/// The agent's name in the records of the runs.
pub const AGENT: &str = "clerk";

/// The lease of runs and calls. When it expires, the next process takes them over.
const LEASE: Duration = Duration::from_secs(2);

/// How long a tool waits before and after its effect.
const MOMENT: Duration = Duration::from_millis(50);

/// How long the simulated library works before it aborts the process.
const BEFORE_ABORT: Duration = Duration::from_millis(500);

/// The argument with which the program starts as a worker.
const WORK: &str = "work";

/// The journal of the runs, the ledger, and the address of the provider, which a worker gets as arguments.
pub struct Place {
    pub journal: PathBuf,
    pub ledger: PathBuf,
    pub url: String,
}

impl Place {
    /// Parses the program's arguments; `None` if the program was not started as a worker.
    pub fn of(words: impl Iterator<Item = OsString>) -> Result<Option<Self>, Error> {
        let words: Vec<OsString> = words.collect();
        match &words[..] {
            [work, journal, ledger, url] if work == WORK => Ok(Some(Self {
                journal: journal.into(),
                ledger: ledger.into(),
                url: url.to_str().ok_or("the URL is not UTF-8")?.to_owned(),
            })),
            _ => Ok(None),
        }
    }

    /// Returns the arguments that start a worker.
    pub fn words(&self) -> [OsString; 4] {
        [WORK.into(), (&self.journal).into(), (&self.ledger).into(), (&self.url).into()]
    }
}

/// Book an entry of an order.
#[tool(
    effect = once,
    writes(),
    reconcile = |ledger, run, entry| -> Result<Reconciled, ToolError> {
        Ok(match ledger.has(&run, &entry).map_err(ToolError::internal)? {
            true => Reconciled::Happened(Output::text("booked")),
            false => Reconciled::DidNotHappen,
        })
    }
)]
async fn book(
    ledger: &Ledger,
    /// The run.
    run: String,
    /// The entry.
    entry: String,
) -> Result<&'static str, ToolError> {
    sleep(MOMENT).await;
    ledger.book(&run, &entry).map_err(ToolError::internal)?;
    sleep(MOMENT).await;
    Ok("booked")
}

/// Convert a document, by a library that aborts its process.
#[tool(effect = read, reads())]
async fn convert(
    /// The run.
    run: String,
) -> String {
    sleep(BEFORE_ABORT).await;
    eprintln!("worker: the library aborts the process, in run {run}");
    std::process::abort()
}

/// Builds the runner, which starts, watches and drives the runs.
pub async fn runner(place: &Place) -> Result<Runner, Error> {
    let store = SqliteStore::open(&place.journal).await?;
    let journal = Journal::new(store).on_no_approver(OnNoApprover::Park).lease(LEASE);
    let executor = Executor::builder(Registry::of([BOOK, CONVERT])?)
        .unrestricted()
        .service(Ledger(place.ledger.clone()))
        .journal(journal)
        .build()?;
    let model = HttpModel::anthropic("claude-sonnet-4-6").base_url(&place.url).build()?;
    let agent = Agent::on(executor, model).build()?;
    let runner = Runner::builder().agent(AGENT, agent).on_failure(|run, error| {
        // The report counts failed requests, so the process does not print them.
        if !matches!(error, RunError::ModelUnreachable { .. }) {
            eprintln!("worker: {run}: {error}");
        }
    });
    Ok(runner.build()?)
}

/// Works on the runs until it is killed.
pub async fn work(place: &Place) -> Result<(), Error> {
    Ok(runner(place).await?.work().await?)
}
