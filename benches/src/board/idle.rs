//! A heartbeat of a runner that has nothing to do, beside 10,000 tickets.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use board::Board;
use board::runner::{FutureModel, Models, Runner, Settings};
use board::ticket::Ticket;
use tempfile::TempDir;
use tokio::runtime::Builder;
use toolwright::CancellationToken;
use toolwright::journal::MemoryStore;
use toolwright_toolbox::Supervisor;

use super::{filled, now};

/// Has no model, since no ticket needs one.
struct NoModel;

impl Models for NoModel {
    fn model<'a>(&'a self, _: &'a Ticket, _: u64) -> FutureModel<'a> {
        Box::pin(async { Err("no ticket has to be worked on".to_owned()) })
    }
}

/// Returns the average time of `times` heartbeats.
pub fn beats(times: u32) -> Result<Duration> {
    let folder = TempDir::new()?;
    let board: Board = filled(&folder, |_| false)?;
    let runner = Runner {
        board: Arc::new(board),
        journal: Arc::new(MemoryStore::new()),
        folder: folder.path().to_owned(),
        executables: folder.path().to_owned(),
        supervisor: Supervisor::in_this_program()?,
        models: Arc::new(NoModel),
        settings: Settings::default(),
        approvers: Vec::new(),
        clock: Arc::new(|| now().unwrap_or_default()),
        added: Vec::new(),
    };
    let stop = CancellationToken::new();
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let begun = Instant::now();
    for _ in 0..times {
        ensure!(runtime.block_on(runner.heartbeat(&stop))?.is_none(), "a ticket was worked on");
    }
    Ok(begun.elapsed() / times)
}
