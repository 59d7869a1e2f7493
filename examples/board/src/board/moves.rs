//! Moves tickets between columns. The statement that writes a move also checks it, so that no other change can come
//! between the check and the write.

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Transaction, named_params, params};

use super::criteria::criteria;
use super::{Board, BoardError, stored};
use crate::ticket::State;

/// A move of a ticket, as the board has recorded it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    pub from: State,
    pub to: State,
    pub reason: String,
    /// The name of a person, or `agent`.
    pub by: String,
}

/// The name in the column `by` of moves that an agent makes.
pub const AGENT: &str = "agent";

impl Board {
    /// Moves a ticket on behalf of an agent: from research to progress, and from there to verification if every
    /// criterion is met in this git tree. Returns the state before. A move with a known key is not made again.
    ///
    /// # Errors
    /// When an agent may not make this move, a criterion is missing or not met, or the database fails. Then nothing
    /// is written.
    pub fn move_by_agent(
        &self,
        ticket: i64,
        to: State,
        reason: &str,
        tree: &str,
        key: &str,
        now: Timestamp,
    ) -> Result<State, BoardError> {
        self.transaction(|transaction| {
            let sql = "SELECT from_state FROM transition WHERE key = ?";
            let made = transaction.query_row(sql, [key], |row| row.get(0)).optional()?;
            if let Some(from) = made {
                return Ok(from);
            }
            let from = state(transaction, ticket)?;
            let moved = transaction.execute(
                "UPDATE ticket SET state = :to, sub_state = NULL, updated_at = :now \
                 WHERE id = :ticket \
                   AND (state, :to) IN (VALUES ('RESEARCH', 'IN_PROGRESS'), ('IN_PROGRESS', 'VERIFICATION')) \
                   AND (:to <> 'VERIFICATION' OR ( \
                       EXISTS (SELECT 1 FROM criterion WHERE ticket = :ticket) \
                       AND NOT EXISTS (SELECT 1 FROM criterion WHERE ticket = :ticket \
                           AND NOT (met AND (evidence = 'person' OR tree IS :tree)))))",
                named_params! { ":to": to, ":now": stored(now), ":ticket": ticket, ":tree": tree },
            )?;
            if moved == 0 {
                return Err(match (from, to) {
                    (State::InProgress, State::Verification) => {
                        unmet(transaction, ticket, tree)?
                    }
                    _ => BoardError::InvalidTransition { from, to },
                });
            }
            record(transaction, ticket, [from, to], reason, AGENT, Some(key), now)?;
            Ok(from)
        })
    }

    /// Moves a ticket on behalf of a person, to any other column. A move back from verification returns the ticket to
    /// its agent. Returns the state before.
    ///
    /// # Errors
    /// When it is in that column already, there is no such ticket, or the database fails.
    pub fn move_by_person(
        &self,
        ticket: i64,
        to: State,
        reason: &str,
        person: &str,
        now: Timestamp,
    ) -> Result<State, BoardError> {
        self.move_if(ticket, None, to, reason, person, now)
    }

    /// Moves a ticket as [`move_by_person`](Self::move_by_person) does, but only if the ticket is still in the column
    /// in which the page showed it.
    ///
    /// # Errors
    /// As [`move_by_person`](Self::move_by_person); also when the ticket has been moved to another column since.
    pub fn move_as_shown(
        &self,
        ticket: i64,
        [from, to]: [State; 2],
        reason: &str,
        person: &str,
        now: Timestamp,
    ) -> Result<State, BoardError> {
        self.move_if(ticket, Some(from), to, reason, person, now)
    }

    fn move_if(
        &self,
        ticket: i64,
        shown: Option<State>,
        to: State,
        reason: &str,
        person: &str,
        now: Timestamp,
    ) -> Result<State, BoardError> {
        self.transaction(|transaction| {
            let from = state(transaction, ticket)?;
            if let Some(shown) = shown.filter(|it| *it != from) {
                return Err(BoardError::MovedMeanwhile { shown, found: from });
            }
            let moved = transaction.execute(
                // A person may move a ticket whose runner was killed, so the expired claim is removed.
                "UPDATE ticket SET state = ?1, updated_at = ?2, not_before = 0, \
                     runner = CASE WHEN lease_until > ?2 THEN runner END, \
                     sub_state = CASE WHEN state = 'VERIFICATION' AND ?1 = 'IN_PROGRESS' THEN 'returned' END \
                 WHERE id = ?3 AND state <> ?1",
                params![to, stored(now), ticket],
            )?;
            if moved == 0 {
                return Err(BoardError::InvalidTransition { from, to });
            }
            record(transaction, ticket, [from, to], reason, person, None, now)?;
            Ok(from)
        })
    }

    /// Returns the moves of a ticket, in order.
    ///
    /// # Errors
    /// When the database fails.
    pub fn moves(&self, ticket: i64) -> Result<Vec<Move>, BoardError> {
        let connection = self.connection();
        let mut statement = connection.prepare_cached(
            "SELECT from_state, to_state, reason, moved_by FROM transition WHERE ticket = ? ORDER BY id",
        )?;
        let found = statement.query_map([ticket], |row| {
            Ok(Move { from: row.get(0)?, to: row.get(1)?, reason: row.get(2)?, by: row.get(3)? })
        })?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}

fn state(transaction: &Transaction<'_>, ticket: i64) -> Result<State, BoardError> {
    let sql = "SELECT state FROM ticket WHERE id = ?";
    let found = transaction.query_row(sql, [ticket], |row| row.get(0)).optional()?;
    found.ok_or_else(|| BoardError::Missing { what: "ticket", id: ticket.to_string() })
}

/// Returns the error that lists the criteria without which a ticket cannot move to verification.
fn unmet(transaction: &Transaction<'_>, ticket: i64, tree: &str) -> Result<BoardError, BoardError> {
    let all = criteria(transaction, ticket)?;
    let unmet = all.iter().filter(|it| !it.counts_for(tree)).map(|it| {
        let why = if it.met {
            "the files were changed since it was checked"
        } else {
            it.finding.as_deref().unwrap_or("not checked")
        };
        format!("{} “{}” ({why})", it.id, it.text)
    });
    let unmet: Vec<String> = unmet.collect();
    let unmet = match all.is_empty() {
        true => "the ticket has none, so nothing says when it is done".to_owned(),
        false => unmet.join("; "),
    };
    Ok(BoardError::UnmetCriteria { unmet })
}

fn record(
    transaction: &Transaction<'_>,
    ticket: i64,
    [from, to]: [State; 2],
    reason: &str,
    who: &str,
    key: Option<&str>,
    now: Timestamp,
) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT INTO transition (ticket, from_state, to_state, reason, moved_by, moved_at, key) VALUES (?, ?, ?, ?, ?, ?, ?)",
        params![ticket, from, to, reason, who, stored(now), key],
    )?;
    Ok(())
}
