//! `board_read` shows the tickets of the project and where they are.
//!
//! # What it does
//! It answers with id, title, type, state and sub-state of each ticket of the run's project.
//!
//! # What it may touch
//! It reads the board. It shows neither the texts of tickets nor tickets of other projects.
//!
//! # What it refuses
//! Nothing.

use serde::Serialize;
use toolwright::{Output, ToolError, tool};

use super::current::{CurrentTicket, OnTicket};
use super::shown::pretty;
use crate::ticket::{State, SubState, TicketKind};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    id: i64,
    title: String,
    #[serde(rename = "type")]
    kind: TicketKind,
    state: State,
    sub_state: Option<SubState>,
    /// Whether it is the one that you work on.
    yours: bool,
}

/// List all tickets of the project with their states.
#[tool(unlinked, group = "board", effect = read, reads(OnTicket = ticket.resource()), blocking)]
pub fn board_read(ticket: &CurrentTicket) -> Result<Output, ToolError> {
    let tickets = ticket.board.tickets(Some(ticket.project))?.into_iter().map(|it| Shown {
        id: it.id,
        title: it.title,
        kind: it.kind,
        state: it.state,
        sub_state: it.sub_state,
        yours: it.id == ticket.id,
    });
    pretty(&tickets.collect::<Vec<_>>())
}
