//! `ticket_read` shows the ticket of the run.
//!
//! # What it does
//! It answers with title, description, state, acceptance criteria, the newest 20 comments and the documents, as JSON.
//!
//! # What it may touch
//! It reads the ticket, and notes that the agent has read the comments.
//!
//! # What it refuses
//! Nothing; a ticket that was deleted is an error.

use serde::Serialize;
use toolwright::{Output, ToolError, tool};

use super::current::{CurrentTicket, OnTicket};
use super::shown::{ShownComment, ShownCriterion, ShownDocument, pretty};
use crate::ticket::{Comment, State, SubState};
use crate::{Board, BoardError};

/// How many of the newest comments a model reads.
const COMMENTS: u32 = 20;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    title: String,
    description: String,
    state: State,
    sub_state: Option<SubState>,
    acceptance_criteria: Vec<ShownCriterion>,
    comments: Vec<ShownComment>,
    documents: Vec<ShownDocument>,
}

/// Read the ticket that you work on: title, description, state, acceptance criteria, the newest comments, documents.
#[tool(unlinked, group = "ticket", effect = read, reads(file = ".", OnTicket = ticket.resource()), blocking)]
pub fn ticket_read(ticket: &CurrentTicket) -> Result<Output, ToolError> {
    let comments = ticket.read_comments(COMMENTS)?;
    pretty(&shown(&ticket.board, ticket.id, comments, &ticket.tree()?)?)
}

/// Returns the ticket as models and `bonsai-plan` read it, with the criteria that the present files meet.
pub fn shown(
    board: &Board,
    id: i64,
    comments: Vec<Comment>,
    tree: &str,
) -> Result<impl Serialize + use<>, BoardError> {
    let found = board.ticket(id)?;
    let criteria = board.criteria(id)?.into_iter();
    let documents = board.documents(id)?.into_iter();
    Ok(Shown {
        title: found.title,
        description: found.description,
        state: found.state,
        sub_state: found.sub_state,
        acceptance_criteria: criteria.map(|it| ShownCriterion::of(it, tree)).collect(),
        comments: comments.into_iter().map(Into::into).collect(),
        documents: documents.map(|it| ShownDocument { kind: it.kind, status: it.status }).collect(),
    })
}
