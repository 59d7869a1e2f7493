//! `comment_resolve` marks a thread of comments as resolved.
//!
//! # What it does
//! It marks the first comment of the thread and every answer.
//!
//! # What it may touch
//! It writes the ticket.
//!
//! # What it refuses
//! Comments of other tickets.

use toolwright::{ToolError, tool};

use super::current::{CurrentTicket, OnTicket};

/// Mark a thread of comments on the ticket that you work on as resolved.
#[tool(unlinked, group = "comment", effect = idempotent, writes(OnTicket = ticket.resource()), blocking)]
pub fn comment_resolve(
    ticket: &CurrentTicket,
    /// The id of a comment of the thread.
    comment: i64,
) -> Result<String, ToolError> {
    ticket.board.resolve_comment(ticket.id, comment)?;
    Ok(format!("Thread of comment {comment} resolved"))
}
