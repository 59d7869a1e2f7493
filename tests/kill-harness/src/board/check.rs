//! Checks what must be true of a board, however often its runners were killed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use board::Board;
use board::board::AGENT;
use board::ticket::State;
use toolwright::journal::{Filter, Page, SqliteStore, State as CallState, Store as _};

use super::model::{REASONS, comments, file, worked_on_twice};

/// A violation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Two processes worked on a ticket at the same time, this many times.
    Twice(usize),
    /// Something that an agent did to its ticket is missing, or is there more than once.
    Lost(String),
    /// A transition without a call of its agent, or a call without its transition.
    Unexplained(String),
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Twice(times) => write!(formatter, "worked on twice at once: {times} times"),
            Self::Lost(why) => write!(formatter, "lost: {why}"),
            Self::Unexplained(why) => write!(formatter, "unexplained transition: {why}"),
        }
    }
}

/// Checks every ticket of a board. No runner may work on it.
///
/// # Errors
/// When board or journal cannot be read.
pub async fn check(folder: &Path) -> anyhow::Result<Vec<Finding>> {
    let board = Board::open(folder.join("board.db"))?;
    let mut findings = Vec::new();
    match worked_on_twice(folder)? {
        0 => {}
        times => findings.push(Finding::Twice(times)),
    }
    let moved = moving_calls(folder).await?;
    for ticket in board.tickets(None)? {
        let id = ticket.id;
        let mut lost = |why: String| findings.push(Finding::Lost(format!("ticket {id}: {why}")));
        if ticket.state != State::Verification {
            let ended = board.slices(id, 1)?.pop().and_then(|it| it.detail).unwrap_or_default();
            lost(format!("is in {}: {ended}", ticket.state));
        }
        let mut found: Vec<String> =
            board.newest_comments(id, 100)?.into_iter().map(|it| it.content).collect();
        found.reverse();
        if found != comments(id) {
            lost(format!("has the comments {found:?}"));
        }
        let (path, text) = file(id);
        let written = std::fs::read_to_string(folder.join(format!("worktrees/ticket-{id}/{path}")));
        if !written.as_ref().is_ok_and(|it| *it == text) {
            lost(format!("its file is {written:?}"));
        }
        let moves = board.moves(id)?;
        let expected = [
            (State::Research, State::InProgress, REASONS[0]),
            (State::InProgress, State::Verification, REASONS[1]),
        ];
        let are = moves.iter().map(|it| (it.from, it.to, it.reason.as_str()));
        let by_agent = moves.iter().all(|it| it.by == AGENT);
        let calls = moved.get(&format!("ticket-{id}")).copied().unwrap_or_default();
        if !are.eq(expected) || !by_agent || calls != expected.len() {
            let why = format!("ticket {id}: {moves:?}, of {calls} calls that succeeded");
            findings.push(Finding::Unexplained(why));
        }
    }
    Ok(findings)
}

/// Counts the calls of each run that moved its ticket.
async fn moving_calls(folder: &Path) -> anyhow::Result<BTreeMap<String, usize>> {
    let store = SqliteStore::open(folder.join("calls.db")).await?;
    let filter = Filter {
        states: vec![CallState::Succeeded],
        tool: Some("ticket_update_state".to_owned()),
        ..Filter::default()
    };
    let mut moved = BTreeMap::new();
    for call in store.list(&filter, Page::first(10_000)).await?.calls {
        *moved.entry(call.place.run).or_default() += 1;
    }
    Ok(moved)
}
