//! Measures how long a run of another process takes to be resumed: from the start of a process to its first request
//! to the model.
//!
//! The process opens the journal, builds its executor and agents, resumes the run with its whole history, and exits
//! when the model is asked.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use futures::future::BoxFuture;
use tokio::runtime::Runtime;
use toolwright::dialect::Dialect;
use toolwright::journal::{Journal, SqliteStore};
use toolwright::{Executor, OnNoApprover, Registry};
use toolwright_agent::durable::{NewRun, RunError, Runner};
use toolwright_agent::{Agent, Model, ModelAnswer, ModelError, ModelRequest, NoticeKind};

use super::{RECORD_NOTE, Steady};

/// The argument that starts this program as a process that resumes a run; the journal follows it.
const RESUME: &str = "resume-a-run";

/// A model that exits the process when it is asked.
struct Last;

impl Model for Last {
    fn name(&self) -> &'static str {
        "last"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(&'a self, _: ModelRequest<'a>) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        std::process::exit(0)
    }
}

fn executor(store: SqliteStore) -> Result<Executor> {
    let executor = Executor::builder(Registry::of([RECORD_NOTE])?).unrestricted();
    Ok(executor.journal(Journal::new(store).on_no_approver(OnNoApprover::Park)).build()?)
}

fn agents(
    executor: Executor,
    model: impl Model + 'static,
    listen: impl Fn(u64) + Send + Sync + 'static,
) -> Result<Runner> {
    let agent = Agent::on(executor, model).max_turns(u32::MAX).listen(move |notice| {
        if let NoticeKind::Answered { .. } = notice.kind {
            listen(notice.turn);
        }
    });
    Ok(Runner::builder().agent("steady", agent.build()?).build()?)
}

/// Resumes a run, if this program was started for that. Then it does not return.
pub fn resume_if_asked() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() != Some(RESUME) {
        return Ok(());
    }
    let file = arguments.next().context("no journal")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let progress = runtime.block_on(async {
        let agents = agents(executor(SqliteStore::open(file).await?)?, Last, |_| {})?;
        Ok::<_, anyhow::Error>(agents.resume("r1").await?)
    })?;
    bail!("the model was not asked: {progress}")
}

/// Makes a run of the given number of turns, and releases it in order.
pub async fn left(file: &Path, turns: u64) -> Result<()> {
    let executor = executor(SqliteStore::open(file).await?)?;
    let closing = executor.clone();
    let agents = agents(executor, Steady(u64::MAX), move |turn| {
        if turn == turns {
            let closing = closing.clone();
            tokio::spawn(async move { closing.drain(Duration::ZERO).await });
        }
    })?;
    match agents.start(NewRun::new("r1", "steady", "note it")).await {
        Err(RunError::ShuttingDown { .. }) => Ok(()),
        other => bail!("the run was to be left open: {other:?}"),
    }
}

/// Returns the median time of several processes until the first request of a run of the given length.
pub fn resumed(runtime: &Runtime, file: &Path, turns: u64, times: usize) -> Result<Duration> {
    runtime.block_on(left(file, turns))?;
    let program = Arc::new(std::env::current_exe()?);
    let mut took = Vec::with_capacity(times);
    for number in 0..times {
        // Each process resumes a copy of the journal.
        let copy = file.with_extension(format!("{number}.db"));
        for end in ["", "-wal"] {
            let from = format!("{}{end}", file.display());
            if std::fs::exists(&from)? {
                std::fs::copy(from, format!("{}{end}", copy.display()))?;
            }
        }
        let start = Instant::now();
        let status = Command::new(&*program).arg(RESUME).arg(&copy).status()?;
        took.push(start.elapsed());
        ensure!(status.success(), "the process that took the run up ended with {status}");
    }
    took.sort();
    Ok(took[times / 2])
}
