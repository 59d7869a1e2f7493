//! Works on tickets. At each heartbeat the runner claims the next ticket, finds or makes its worktree, and starts or
//! resumes the run of the ticket for one slice.
//!
//! ```text
//!  claim (board) ─▶ worktree (git) ─▶ run `ticket-<id>` (journal) ─▶ end of the slice (board)
//!      └ killed anywhere: the claim and the run's lease expire, and the next heartbeat of any runner goes on
//! ```
//!
//! Two runners never work on one ticket: the claim is one statement, and the journal lets one process drive a run.

mod decide;
mod models;
mod slice;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use toolwright::CancellationToken;
use toolwright::approval::PublicKey;
use toolwright::journal::{Journal, Store};
use toolwright::runtime::OnNoApprover;
use toolwright::toolbox::Supervisor;

pub use self::models::{FutureModel, Models, OneModel};
use crate::assembly::Factory;
use crate::board::SliceEnd;
use crate::ticket::Outcome;
use crate::{Board, BoardError};

/// The settings of a runner.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The runner's name on the board.
    pub name: String,
    /// How long the runner waits if there is nothing to do.
    pub heartbeat: Duration,
    /// How long the runner works on a ticket before it claims another.
    pub slice: Duration,
    /// How long a claim and the lease of a run are valid unless they are renewed.
    pub lease: Duration,
    /// The most turns of the model after each message to the run.
    pub max_turns: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: format!("runner-{}", std::process::id()),
            heartbeat: Duration::from_secs(60),
            slice: Duration::from_secs(15 * 60),
            lease: Duration::from_secs(60),
            max_turns: 40,
        }
    }
}

/// A function that returns the present time. Tests use a clock of their own.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A runner, which works on the tickets of a board.
pub struct Runner {
    pub board: Arc<Board>,
    /// The journal of the tickets' runs.
    pub journal: Arc<dyn Store>,
    /// The folder of the board, with the worktrees and the change logs.
    pub folder: PathBuf,
    /// The folder with the programs `bonsai-…`.
    pub executables: PathBuf,
    pub supervisor: Supervisor,
    pub models: Arc<dyn Models>,
    pub settings: Settings,
    /// The people whose decisions about calls count, by name and key.
    pub approvers: Vec<(String, PublicKey)>,
    /// The clock, which is [`Timestamp::now`] outside of tests.
    pub clock: Clock,
    /// Factories of additional tools, from the application.
    pub added: Vec<Factory>,
}

/// The result of a heartbeat that worked on a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worked {
    pub ticket: i64,
    pub outcome: Outcome,
    /// The explanation of the outcome, for people.
    pub detail: String,
}

impl Runner {
    /// Claims the next ticket and works on it for a slice; `None` if there is nothing to do. Cancelling the token ends
    /// the slice early, and its end is recorded.
    ///
    /// # Errors
    /// When the board fails, or another runner has taken the ticket over.
    pub async fn heartbeat(&self, stop: &CancellationToken) -> Result<Option<Worked>, BoardError> {
        let now = (self.clock)();
        let claim = self.board.claim_next(&self.settings.name, now, self.lease_from(now))?;
        let Some(claim) = claim else { return Ok(None) };
        let (outcome, detail) = slice::work(self, &claim, stop).await?;
        let now = (self.clock)();
        let not_before = later(now, self.settings.heartbeat);
        let end = SliceEnd { outcome, detail: detail.clone(), not_before };
        self.board.end_slice(&claim, &end, now)?;
        Ok(Some(Worked { ticket: claim.ticket, outcome, detail }))
    }

    /// Works until the token is cancelled, and reports the result of each slice.
    ///
    /// # Errors
    /// As [`heartbeat`](Self::heartbeat). A ticket that another runner has taken over is reported, and left to that
    /// runner.
    pub async fn work(
        &self,
        stop: &CancellationToken,
        report: impl Fn(&Worked),
    ) -> Result<(), BoardError> {
        while !stop.is_cancelled() {
            match self.heartbeat(stop).await {
                Ok(Some(worked)) => report(&worked),
                Ok(None) => {
                    let pause = tokio::time::sleep(self.settings.heartbeat);
                    tokio::select! { () = stop.cancelled() => {} () = pause => {} }
                }
                Err(BoardError::ClaimLost { ticket, .. }) => {
                    let detail = "another runner has taken it over".to_owned();
                    report(&Worked { ticket, outcome: Outcome::Timeout, detail });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns the journal of the executors, in which calls wait for a person's decision.
    fn calls(&self) -> Journal {
        let journal = Journal::shared(Arc::clone(&self.journal)).lease(self.settings.lease);
        let journal = journal.on_no_approver(OnNoApprover::Park);
        self.approvers.iter().fold(journal, |journal, (name, key)| journal.trust(name, *key))
    }

    fn lease_from(&self, now: Timestamp) -> Timestamp {
        later(now, self.settings.lease)
    }
}

/// Adds a duration to a time. An overflow gives the latest possible time.
fn later(now: Timestamp, by: Duration) -> Timestamp {
    let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
    now.checked_add(by).unwrap_or(Timestamp::MAX)
}
