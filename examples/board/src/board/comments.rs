//! Comments and their threads.

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, params};

use super::{Board, BoardError, stored, time};
use crate::ticket::{Author, Comment, NewComment};

/// The most characters of a comment, because models and the page read comments as a whole.
pub const LONGEST_COMMENT: usize = 20_000;

const COMMENT: &str = "SELECT id, parent, author, author_id, author_name, kind, content, resolved, created_at FROM comment";

impl Board {
    /// Adds a comment and returns its id. If a comment with the same key exists, adds none, and returns the id of that
    /// comment.
    ///
    /// # Errors
    /// When the comment is empty or too long, answers a comment of another ticket, or the database fails.
    pub fn add_comment(&self, new: &NewComment<'_>, now: Timestamp) -> Result<i64, BoardError> {
        let found = new.content.chars().count();
        if new.content.trim().is_empty() || found > LONGEST_COMMENT {
            return Err(BoardError::CommentLength { found });
        }
        self.transaction(|transaction| {
            let known = transaction
                .query_row("SELECT id FROM comment WHERE key = ?", [new.key], |row| row.get(0))
                .optional()?;
            if let Some(known) = known {
                return Ok(known);
            }
            let mut thread: Option<i64> = None;
            if let Some(parent) = new.parent {
                // An answer to an answer belongs to the same thread, which its first comment names.
                thread = transaction
                    .query_row(
                        "SELECT coalesce(parent, id) FROM comment WHERE id = ? AND ticket = ?",
                        [parent, new.ticket],
                        |row| row.get(0),
                    )
                    .optional()?;
                if thread.is_none() {
                    return Err(missing(parent, new.ticket));
                }
            }
            if new.author == Author::Human {
                // Let the next heartbeat claim the ticket, so that its agent reads the comment.
                let sql = "UPDATE ticket SET not_before = 0 WHERE id = ?";
                transaction.execute(sql, [new.ticket])?;
            }
            Ok(transaction.query_row(
                "INSERT INTO comment (ticket, parent, author, author_id, author_name, kind, content, created_at, key) \
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
                params![
                    new.ticket, thread, new.author, new.author_id, new.author_name, new.kind, new.content,
                    stored(now), new.key
                ],
                |row| row.get(0),
            )?)
        })
    }

    /// Returns at most `most` comments of a ticket, the newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn newest_comments(&self, ticket: i64, most: u32) -> Result<Vec<Comment>, BoardError> {
        self.comments(
            &format!("{COMMENT} WHERE ticket = ?1 ORDER BY id DESC LIMIT ?2"),
            ticket,
            most.into(),
        )
    }

    /// Returns the comments of people on a ticket that are newer than the comment `after`, in order.
    ///
    /// # Errors
    /// When the database fails.
    pub fn words_of_people(&self, ticket: i64, after: i64) -> Result<Vec<Comment>, BoardError> {
        let sql =
            format!("{COMMENT} WHERE ticket = ?1 AND id > ?2 AND author = 'human' ORDER BY id");
        self.comments(&sql, ticket, after)
    }

    fn comments(&self, sql: &str, ticket: i64, other: i64) -> Result<Vec<Comment>, BoardError> {
        let connection = self.connection();
        let mut statement = connection.prepare_cached(sql)?;
        Ok(statement.query_map([ticket, other], comment)?.collect::<Result<_, _>>()?)
    }

    /// Marks the thread of a comment of this ticket as resolved: its first comment and every answer.
    ///
    /// # Errors
    /// When the ticket has no such comment, or the database fails.
    pub fn resolve_comment(&self, ticket: i64, id: i64) -> Result<(), BoardError> {
        let changed = self.connection().execute(
            "UPDATE comment SET resolved = 1 WHERE ticket = ?1 AND EXISTS (\
                 SELECT 1 FROM comment AS it WHERE it.id = ?2 AND it.ticket = ?1 \
                 AND coalesce(it.parent, it.id) = coalesce(comment.parent, comment.id))",
            [ticket, id],
        )?;
        if changed == 0 { Err(missing(id, ticket)) } else { Ok(()) }
    }
}

fn missing(comment: i64, ticket: i64) -> BoardError {
    BoardError::Missing { what: "comment", id: format!("{comment} on ticket {ticket}") }
}

fn comment(row: &Row<'_>) -> rusqlite::Result<Comment> {
    Ok(Comment {
        id: row.get(0)?,
        parent: row.get(1)?,
        author: row.get(2)?,
        author_id: row.get(3)?,
        author_name: row.get(4)?,
        kind: row.get(5)?,
        content: row.get(6)?,
        resolved: row.get(7)?,
        created_at: time(row.get(8)?),
    })
}
