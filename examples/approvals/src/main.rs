//! A shop's support agent whose refunds a person approves, from another process and as late as they like.
//!
//! `approvals --journal calls.db --approver ada=ed25519:… ticket-1` works on one run. Kill it at any moment and start
//! it again with the same command line. `README.md` beside this crate shows a session.

mod agent;
mod carrier;
mod ledger;
mod model;
mod options;
mod pace;
mod say;
mod tools;

use std::process::ExitCode;

use anyhow::Context as _;
use toolwright::journal::{Journal, SqliteStore};
use toolwright::{Executor, OnNoApprover};

use agent::{Agent, Ended};
use carrier::Carrier;
use ledger::Ledger;
use options::Options;
use pace::Pace;

/// The exit code if a call waits for a person and `--once` was given.
const WAITS: u8 = 3;

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::of_command_line();
    match work(options).await {
        Ok(Ended::Answered) => ExitCode::SUCCESS,
        Ok(Ended::Waits) => ExitCode::from(WAITS),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn work(options: Options) -> anyhow::Result<Ended> {
    let store = SqliteStore::open(&options.journal).await?;
    let mut journal = Journal::new(store.clone())
        // This process asks no person: calls wait until `toolwright approvals` decides.
        .on_no_approver(OnNoApprover::Park)
        .approval_expires_after(options.expires)
        .lease(options.lease);
    for (name, key) in &options.approvers {
        journal = journal.trust(name, *key);
    }
    let executor = Executor::builder(tools::registry()?)
        .unrestricted()
        .service(Ledger::at(&options.ledger))
        .service(Pace::of(options.pause))
        .service(Carrier::default())
        .journal(journal)
        .build()?;
    let run = executor.run(options.run.as_str()).user("bob@example.org").start()?;
    let agent = Agent {
        worker: run.worker().context("the executor has no journal")?,
        run,
        store,
        journal: options.journal,
        task: options.task,
    };
    if options.once {
        return agent.work_once().await;
    }
    // The worker runs calls in the background that were decided while this process was stopped, or that belong to
    // other runs.
    let worker = executor.worker().context("the executor has no journal")?;
    let working = tokio::spawn(async move { worker.work().await });
    let ended = agent.work().await;
    working.abort();
    ended
}
