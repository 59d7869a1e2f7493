//! Claims: a runner claims a ticket for a limited time. The board records the runner's results only while the claim is
//! valid.

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, named_params, params};

use super::{Board, BoardError, stored};
use crate::ticket::{Outcome, SubState};

/// The right of one runner to work on one ticket, until its lease ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub ticket: i64,
    /// How often the ticket has been claimed. A later claim ends this one.
    pub epoch: i64,
}

/// The result of a slice of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliceEnd {
    pub outcome: Outcome,
    /// The explanation of the outcome, for people.
    pub detail: String,
    /// The earliest time at which a runner claims the ticket again, unless a person comments on the ticket, moves it,
    /// or decides about a call of its agent before.
    pub not_before: Timestamp,
}

/// A slice of work on a ticket, as the board has recorded it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    pub runner: String,
    /// The outcome; `None` while the slice runs, and also if its runner was killed.
    pub outcome: Option<Outcome>,
    pub detail: Option<String>,
}

/// The order in which a runner claims tickets:
/// - a ticket on which a person has written a comment that the agent has not read;
/// - a ticket that a person has returned from verification;
/// - the ticket in progress that was changed least recently;
/// - a ticket in research;
/// - a ticket with a call that waits for a decision.
///
/// A ticket in verification is claimed only if the agent moved it there before its run had ended.
const PICK: &str = "\
SELECT id FROM ( \
    SELECT id, updated_at, CASE \
        WHEN EXISTS (SELECT 1 FROM comment WHERE comment.ticket = ticket.id AND comment.id > comments_read AND author = 'human') THEN 0 \
        WHEN sub_state = 'returned' THEN 1 \
        WHEN sub_state IS NULL AND state = 'IN_PROGRESS' THEN 2 \
        WHEN sub_state IS NULL THEN 3 \
        WHEN sub_state = 'waiting' THEN 4 \
    END AS priority \
    FROM ticket \
    WHERE state IN ('RESEARCH', 'IN_PROGRESS') AND lease_until <= :now AND not_before <= :now \
    UNION ALL SELECT id, updated_at, 2 FROM ticket \
    WHERE state = 'VERIFICATION' AND runner IS NOT NULL AND lease_until <= :now AND not_before <= :now \
) WHERE priority IS NOT NULL ORDER BY priority, updated_at, id LIMIT 1";

impl Board {
    /// Claims the next ticket to work on, if there is one.
    ///
    /// # Errors
    /// When the database fails.
    pub fn claim_next(
        &self,
        runner: &str,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<Claim>, BoardError> {
        self.transaction(|transaction| {
            let sql = format!(
                "UPDATE ticket SET runner = :runner, lease_until = :until, epoch = epoch + 1 WHERE id = ({PICK}) RETURNING id, epoch"
            );
            let values = named_params! { ":runner": runner, ":now": stored(now), ":until": stored(until) };
            let claim = transaction
                .query_row(&sql, values, |row| Ok(Claim { ticket: row.get(0)?, epoch: row.get(1)? }))
                .optional()?;
            if let Some(claim) = &claim {
                transaction.execute(
                    "INSERT INTO run (ticket, epoch, runner, began_at) VALUES (?, ?, ?, ?)",
                    params![claim.ticket, claim.epoch, runner, stored(now)],
                )?;
            }
            Ok(claim)
        })
    }

    /// Renews a claim until the given time.
    ///
    /// # Errors
    /// When another runner has claimed the ticket since, or the database fails.
    pub fn renew_claim(&self, claim: &Claim, until: Timestamp) -> Result<(), BoardError> {
        let changed = self.connection().execute(
            "UPDATE ticket SET lease_until = ? WHERE id = ? AND epoch = ? AND runner IS NOT NULL",
            params![stored(until), claim.ticket, claim.epoch],
        )?;
        claim.is_there(changed)
    }

    /// Records which comment the agent of a ticket has read last.
    ///
    /// # Errors
    /// When the database fails.
    pub fn mark_read(&self, ticket: i64, comment: i64) -> Result<(), BoardError> {
        let sql = "UPDATE ticket SET comments_read = max(comments_read, ?) WHERE id = ?";
        self.connection().execute(sql, [comment, ticket])?;
        Ok(())
    }

    /// Records the result of a slice, and releases the ticket. The sub-state is written only while the ticket is in a
    /// column where its agent works. A ticket in verification whose run has not ended keeps the name of its runner, so
    /// that the next claim can pick it.
    ///
    /// # Errors
    /// When another runner has claimed the ticket since, or the database fails. Then nothing is recorded.
    pub fn end_slice(
        &self,
        claim: &Claim,
        end: &SliceEnd,
        now: Timestamp,
    ) -> Result<(), BoardError> {
        let sub_state = match end.outcome {
            Outcome::Completed => Some(SubState::Finished),
            Outcome::Blocked => Some(SubState::Blocked),
            Outcome::Waiting => Some(SubState::Waiting),
            Outcome::Error => Some(SubState::Failed),
            // The next slice resumes the run.
            Outcome::Timeout => None,
        };
        self.transaction(|transaction| {
            let changed = transaction.execute(
                "UPDATE ticket SET runner = CASE WHEN ?6 AND state = 'VERIFICATION' THEN runner END, \
                     lease_until = 0, not_before = ?1, updated_at = ?2, \
                     sub_state = CASE WHEN state IN ('RESEARCH', 'IN_PROGRESS') THEN ?3 END \
                 WHERE id = ?4 AND epoch = ?5 AND runner IS NOT NULL",
                params![
                    stored(end.not_before), stored(now), sub_state, claim.ticket, claim.epoch,
                    end.outcome == Outcome::Timeout
                ],
            )?;
            claim.is_there(changed)?;
            transaction.execute(
                "UPDATE run SET ended_at = ?, outcome = ?, detail = ? WHERE ticket = ? AND epoch = ?",
                params![stored(now), end.outcome, end.detail, claim.ticket, claim.epoch],
            )?;
            Ok(())
        })
    }

    /// Returns the id of the last comment by a person that the agent of a ticket has read.
    ///
    /// # Errors
    /// When there is no such ticket, or the database fails.
    pub fn comments_read(&self, ticket: i64) -> Result<i64, BoardError> {
        let sql = "SELECT comments_read FROM ticket WHERE id = ?";
        Ok(self.connection().query_row(sql, [ticket], |row| row.get(0))?)
    }

    /// Returns the outcome of the slice before this claim; `None` if there was no slice, or its runner was killed.
    ///
    /// # Errors
    /// When the database fails.
    pub fn outcome_before(&self, claim: &Claim) -> Result<Option<Outcome>, BoardError> {
        let connection = self.connection();
        let sql = "SELECT outcome FROM run WHERE ticket = ? AND epoch = ? - 1";
        let found = connection.query_row(sql, [claim.ticket, claim.epoch], |row| row.get(0));
        Ok(found.optional()?.flatten())
    }

    /// Returns at most `most` slices of a ticket, the newest ones, in the order in which they began.
    ///
    /// # Errors
    /// When the database fails.
    pub fn slices(&self, ticket: i64, most: u32) -> Result<Vec<Slice>, BoardError> {
        let connection = self.connection();
        let mut statement = connection.prepare_cached(
            "SELECT runner, outcome, detail FROM ( \
                 SELECT id, runner, outcome, detail FROM run WHERE ticket = ? ORDER BY id DESC LIMIT ? \
             ) ORDER BY id",
        )?;
        let found = statement.query_map(params![ticket, most], |row| {
            Ok(Slice { runner: row.get(0)?, outcome: row.get(1)?, detail: row.get(2)? })
        })?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}

impl Claim {
    fn is_there(&self, changed: usize) -> Result<(), BoardError> {
        let Self { ticket, epoch } = *self;
        if changed == 1 { Ok(()) } else { Err(BoardError::ClaimLost { ticket, epoch }) }
    }
}
