//! `comment_post` writes a comment on the ticket of the run.
//!
//! # What it does
//! It stores the comment with its type, and answers with its id. A repeated call returns the id of the first comment.
//!
//! # What it may touch
//! It writes the ticket.
//!
//! # What it refuses
//! Empty comments, and those of more than 20,000 characters.

use toolwright::{Output, ToolContext, ToolError, tool};

use super::current::{CurrentTicket, OnTicket, now};
use crate::ticket::{Author, CommentKind, NewComment};

/// What a comment is for.
#[toolwright::data]
#[derive(Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub enum PostedKind {
    /// You need an answer of a person before you can go on.
    Question,
    /// You say how far you are.
    Status,
    /// You say what you did, at the end.
    Completion,
}

impl From<PostedKind> for CommentKind {
    fn from(it: PostedKind) -> Self {
        match it {
            PostedKind::Question => Self::Question,
            PostedKind::Status => Self::Status,
            PostedKind::Completion => Self::Completion,
        }
    }
}

/// Post a comment on the ticket that you work on, for the people who read the board. Use `question` when you need an answer
/// before you can go on, and end your work then: you are called again when it is answered. Use `status` to say how far you are,
/// and `completion` to say at the end what you did.
#[tool(unlinked, group = "comment", effect = keyed, writes(OnTicket = ticket.resource()), blocking)]
pub fn comment_post(
    ticket: &CurrentTicket,
    context: &ToolContext,
    /// The text, in Markdown.
    content: String,
    /// What it is for.
    r#type: PostedKind,
) -> Result<Output, ToolError> {
    let (kind, key, project) =
        (CommentKind::from(r#type), context.idempotency_key(), ticket.project.to_string());
    let new = NewComment {
        ticket: ticket.id,
        parent: None,
        author: Author::Agent,
        author_id: &project,
        author_name: "Agent",
        kind,
        content: &content,
        key: Some(&key),
    };
    let id = ticket.board.add_comment(&new, now(context))?;
    Ok(Output::text(format!("Comment posted: {id}")).metadata("commentType", kind.name()))
}
