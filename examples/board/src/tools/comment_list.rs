//! `comment_list` shows the comments on the ticket of the run.
//!
//! # What it does
//! It answers with the newest comments, including those of people, the newest first.
//!
//! # What it may touch
//! It reads the ticket, and notes that the agent has read the comments.
//!
//! # What it refuses
//! Nothing.

use toolwright::{Output, ToolError, tool};

use super::current::{CurrentTicket, OnTicket};
use super::shown::{ShownComment, pretty};

/// List the comments on the ticket that you work on, with what people answered, the newest first.
#[tool(unlinked, group = "comment", effect = read, reads(OnTicket = ticket.resource()), blocking)]
pub fn comment_list(
    ticket: &CurrentTicket,
    /// How many to answer at the most.
    #[arg(default = 100, minimum = 1, maximum = 500)]
    limit: u32,
) -> Result<Output, ToolError> {
    let comments = ticket.read_comments(limit)?.into_iter();
    pretty(&comments.map(ShownComment::from).collect::<Vec<_>>())
}
