//! `ticket_update_state` moves the ticket of the run to the next column.
//!
//! # What it does
//! It moves the ticket from research to progress, or from there to verification, and records why. The statement that
//! writes the move also checks it. A repeated call does nothing and answers as the first did.
//!
//! # What it may touch
//! It writes the ticket, and reads the files of the worktree.
//!
//! # What it refuses
//! Every other move, and verification while a criterion is not met or was checked before the files were changed.

use toolwright::{Output, ToolContext, ToolError, tool};

use super::current::{CurrentTicket, OnTicket, now};
use crate::ticket::State;

/// The column to move to.
#[toolwright::data]
#[derive(Clone, Copy)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum NextState {
    /// You find out what is to be done.
    Research,
    /// You do it.
    InProgress,
    /// You did it, and a person looks at it.
    Verification,
}

impl From<NextState> for State {
    fn from(it: NextState) -> Self {
        match it {
            NextState::Research => Self::Research,
            NextState::InProgress => Self::InProgress,
            NextState::Verification => Self::Verification,
        }
    }
}

/// Move the ticket that you work on to its next state: from RESEARCH to IN_PROGRESS, and from IN_PROGRESS to VERIFICATION. Only
/// move it to VERIFICATION when ALL acceptance criteria are met.
#[tool(
    unlinked, group = "ticket", effect = keyed,
    reads(file = "."), writes(OnTicket = ticket.resource()), blocking
)]
pub fn ticket_update_state(
    ticket: &CurrentTicket,
    context: &ToolContext,
    /// The state to move it to.
    state: NextState,
    /// Why, for the people who read the board.
    reason: String,
) -> Result<Output, ToolError> {
    let (key, tree) = (context.idempotency_key(), ticket.tree()?);
    let to = State::from(state);
    let from = ticket.board.move_by_agent(ticket.id, to, &reason, &tree, &key, now(context))?;
    let output = Output::text(format!("Ticket moved from {from} to {to}: {reason}"));
    Ok(output.metadata("from", from.name()).metadata("to", to.name()))
}
