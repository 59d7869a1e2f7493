//! A process with a runner, which works on a board until it is killed or nothing is left to do.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use board::Board;
use board::runner::{Runner, Settings};
use board::ticket::Outcome;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use toolwright::CancellationToken;
use toolwright::journal::SqliteStore;
use toolwright_toolbox::Supervisor;

use super::model::LockedModels;

/// The first argument of such a process.
pub const ARGUMENT: &str = "board-life";

/// The lease of a claim: much longer than a living process takes to renew it.
const LEASE: Duration = Duration::from_secs(2);

/// The parameters of a process, as JSON on its command line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BoardLife {
    /// The folder with board, journal and worktrees.
    pub folder: PathBuf,
    /// The number of the process in this folder.
    pub number: u32,
    /// The number of the model's answer at which the process kills itself.
    pub kill: Option<u32>,
}

impl BoardLife {
    /// Returns the command that starts the process.
    ///
    /// # Errors
    /// When the parameters cannot be written as JSON.
    pub fn command(&self, program: &Path) -> anyhow::Result<Command> {
        let mut command = Command::new(program);
        command.arg(ARGUMENT).arg(serde_json::to_string(self)?).stdin(Stdio::null());
        command.env("RUST_BACKTRACE", "0");
        Ok(command)
    }
}

/// Returns whether the last slice of every ticket has ended, and not by a timeout.
///
/// # Errors
/// When the board cannot be read.
pub fn is_over(board: &Board) -> anyhow::Result<bool> {
    for ticket in board.tickets(None)? {
        let last = board.slices(ticket.id, 1)?.pop().and_then(|it| it.outcome);
        if last.is_none_or(|it| it == Outcome::Timeout) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Works on the board, until the process is killed or done.
///
/// # Errors
/// When board or journal cannot be opened, or the runner fails.
pub async fn live(life: BoardLife) -> anyhow::Result<()> {
    let board = Arc::new(Board::open(life.folder.join("board.db"))?);
    let journal = Arc::new(SqliteStore::open(life.folder.join("calls.db")).await?);
    let models =
        LockedModels { folder: life.folder.clone(), kill: life.kill, answers: Arc::default() };
    let runner = Runner {
        board: Arc::clone(&board),
        journal,
        folder: life.folder.clone(),
        executables: life.folder.clone(),
        supervisor: Supervisor::program(std::env::current_exe()?),
        models: Arc::new(models),
        settings: Settings {
            name: format!("life-{}", life.number),
            heartbeat: Duration::from_millis(20),
            lease: LEASE,
            ..Settings::default()
        },
        approvers: Vec::new(),
        clock: Arc::new(Timestamp::now),
        added: Vec::new(),
    };
    let stop = CancellationToken::new();
    while !is_over(&board)? {
        match runner.heartbeat(&stop).await {
            Ok(Some(_)) => {}
            Ok(None) => tokio::time::sleep(runner.settings.heartbeat).await,
            Err(error) => eprintln!("note: life {}: {error}", life.number),
        }
    }
    Ok(())
}
