//! Works on a claimed ticket for one slice. A problem that a person has to solve is an outcome of the slice, not an
//! error, and the board shows it.

use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use toolwright::agent::durable::{self, NewRun, Progress, RunError};
use toolwright::{Agent, CancellationToken, Executor};

use super::{Runner, decide};
use crate::assembly::Assembly;
use crate::board::Claim;
use crate::git;
use crate::ticket::{Outcome, Project, Ticket};
use crate::tools::CurrentTicket;
use crate::{Board, BoardError};

/// The agent's name in the records of the runs.
const AGENT: &str = "board";

/// How long a running call may take to end after its slice is over.
const GRACE: Duration = Duration::from_secs(10);

/// How many of the newest comments are searched for comments of the agent.
const NEWEST: u32 = 50;

/// Works on a ticket until its run ends or waits, the slice is over, or the token is cancelled.
pub async fn work(
    runner: &Runner,
    claim: &Claim,
    stop: &CancellationToken,
) -> Result<(Outcome, String), BoardError> {
    let ticket = runner.board.ticket(claim.ticket)?;
    let project = runner.board.project(ticket.project)?;
    let mut lost = pin!(hold(runner, claim));
    let prepared = tokio::select! {
        prepared = prepare(runner, &ticket, &project) => prepared,
        lost = &mut lost => return Err(lost),
    };
    let driven = match prepared {
        Ok(prepared) => drive(runner, claim, stop, lost, prepared, &ticket).await?,
        Err(why) => Err(why),
    };
    let progress = match driven {
        Ok(Some(progress)) => progress,
        Ok(None) => return Ok((Outcome::Timeout, "goes on with the next slice".to_owned())),
        Err(why) => return Ok((Outcome::Error, why)),
    };
    let ticket = runner.board.ticket(claim.ticket)?;
    let comments = runner.board.newest_comments(ticket.id, NEWEST)?;
    let criteria = runner.board.criteria(ticket.id)?;
    Ok(decide::outcome(&progress, &ticket, &comments, &criteria))
}

/// The agent of a ticket, ready to drive its run.
struct Prepared {
    agents: durable::Runner,
    executor: Executor,
    run: String,
    /// Whether the run has ended; `None` for a new run.
    known: Option<bool>,
}

/// Makes the worktree, the executor and the agent. Errors are messages for a person.
async fn prepare(runner: &Runner, ticket: &Ticket, project: &Project) -> Result<Prepared, String> {
    let run = format!("ticket-{}", ticket.id);
    let worktree = runner.folder.join("worktrees").join(&run);
    let (repository, branch, base) =
        (project.repository.clone(), run.clone(), project.branch.clone());
    let place = worktree.clone();
    let found = tokio::task::spawn_blocking(move || {
        git::find_or_make(Path::new(&repository), &place, &branch, &base)
    });
    let found = found.await.map_err(|error| error.to_string())?;
    found.map_err(|error| format!("there is no worktree: {error}"))?;
    let current = CurrentTicket::new(Arc::clone(&runner.board), ticket.id, project.id, worktree);
    let assembly = Assembly::open(current, runner.supervisor.clone(), &runner.executables);
    let mut assembly = assembly.map_err(|error| error.to_string())?;
    assembly.added.clone_from(&runner.added);
    let changes = runner.folder.join(format!("changes-{}.db", ticket.id));
    let executor = assembly.executor(&ticket.profile, &changes, Some(runner.calls()));
    let executor = executor.map_err(|error| error.to_string())?;

    let runs = durable::Runs::of(Arc::clone(&runner.journal));
    let (answers, known) = match runs.head(&run).await {
        Ok(head) => (head.turn, Some(head.ended.is_some())),
        Err(RunError::NoSuchRun { .. }) => (0, None),
        Err(error) => return Err(error.to_string()),
    };
    let model = runner.models.model(ticket, answers).await?;
    let persona = project.persona.clone();
    let agent = Agent::on(executor.clone(), model)
        .instructions(move |ticket: &CurrentTicket| {
            decide::instructions(&persona, unread(ticket.board(), ticket.id()))
        })
        .max_turns(runner.settings.max_turns)
        .build()
        .map_err(|error| error.to_string())?;
    let agents = durable::Runner::builder().agent(AGENT, agent).build();
    Ok(Prepared { agents: agents.map_err(|error| error.to_string())?, executor, run, known })
}

/// Counts the comments of people that the agent has not read. If the board fails, returns 0: the agent gets unread
/// comments anyway when its run has ended.
fn unread(board: &Board, ticket: i64) -> usize {
    let read = board.comments_read(ticket);
    read.and_then(|read| board.words_of_people(ticket, read)).map_or(0, |it| it.len())
}

/// Drives the run; `None` if the slice ended before the run ended or waited. The inner error is a message for a person.
async fn drive(
    runner: &Runner,
    claim: &Claim,
    stop: &CancellationToken,
    lost: impl Future<Output = BoardError>,
    prepared: Prepared,
    ticket: &Ticket,
) -> Result<Result<Option<Progress>, String>, BoardError> {
    let executor = prepared.executor.clone();
    let mut driving = pin!(step(&runner.board, claim, prepared, ticket));
    let mut is_over = pin!(tokio::time::sleep(runner.settings.slice));
    let lost = tokio::select! {
        ended = &mut driving => return ended,
        () = &mut is_over => None,
        () = stop.cancelled() => None,
        lost = lost => Some(lost),
    };
    // Draining releases the run, so that the next process need not wait for its lease.
    let (_, ended) = tokio::join!(executor.drain(GRACE), driving);
    match lost {
        Some(lost) => Err(lost),
        None => ended,
    }
}

/// Renews the claim until it is lost, and returns the error of the renewal.
async fn hold(runner: &Runner, claim: &Claim) -> BoardError {
    let lease = runner.settings.lease;
    let mut renewed = Instant::now();
    loop {
        tokio::time::sleep(lease / 3).await;
        let (begun, until) = (Instant::now(), runner.lease_from((runner.clock)()));
        match runner.board.renew_claim(claim, until) {
            Ok(()) => renewed = begun,
            Err(error) if is_lost(&error, renewed.elapsed(), lease) => return error,
            // The next renewal may find the database free.
            Err(_) => {}
        }
    }
}

/// Returns whether a claim is lost after a renewal has failed. A busy database is asked again until the lease is over.
fn is_lost(error: &BoardError, since_renewal: Duration, lease: Duration) -> bool {
    !matches!(error, BoardError::Database(_)) || since_renewal >= lease
}

/// Starts the run of the ticket, resumes it, or sends it new comments.
async fn step(
    board: &Board,
    claim: &Claim,
    prepared: Prepared,
    ticket: &Ticket,
) -> Result<Result<Option<Progress>, String>, BoardError> {
    let Prepared { agents, run, known, .. } = prepared;
    let progress = match known {
        None => agents.start(NewRun::new(&run, AGENT, decide::task(ticket))).await,
        Some(false) => agents.resume(&run).await,
        Some(true) => {
            let history = match agents.history(&run).await {
                Ok(history) => history,
                Err(error) => return Ok(Err(error.to_string())),
            };
            if let Some(sent) = decide::last_sent(&history) {
                board.mark_read(ticket.id, sent)?;
            }
            let unread = board.words_of_people(ticket.id, board.comments_read(ticket.id)?)?;
            // The run has ended, but no slice has recorded its end: record it, and send no message.
            let before = board.outcome_before(claim)?;
            let is_open = matches!(before, None | Some(Outcome::Timeout | Outcome::Waiting));
            if unread.is_empty() && is_open {
                return Ok(agents.resume(&run).await.map(Some).map_err(|error| error.to_string()));
            }
            let moves = board.moves(ticket.id)?;
            let last = moves.last().filter(|it| it.by != crate::board::AGENT);
            let reason = last.map(|it| it.reason.as_str());
            let sent = agents.send(&run, &decide::message(&unread, reason)).await;
            if let (Ok(_), Some(last)) = (&sent, unread.last()) {
                board.mark_read(ticket.id, last.id)?;
            }
            sent
        }
    };
    Ok(match progress {
        Ok(progress) => Ok(Some(progress)),
        // Another process drives the run, or this process is shutting down.
        Err(error) if error.is_elsewhere() => Ok(None),
        Err(RunError::ShuttingDown { .. } | RunError::NotReleased { .. }) => Ok(None),
        Err(error) => Err(error.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_database_ends_a_slice_only_when_the_lease_is_over() {
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
        let busy = BoardError::Database(rusqlite::Error::SqliteFailure(code, None));
        let (third, lease) = (Duration::from_secs(20), Duration::from_secs(60));
        assert!(!is_lost(&busy, third, lease));
        assert!(is_lost(&busy, lease, lease));
        assert!(is_lost(&BoardError::ClaimLost { ticket: 1, epoch: 1 }, third, lease));
    }
}
