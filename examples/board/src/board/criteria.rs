//! Acceptance criteria, and the findings about them.

use jiff::Timestamp;
use rusqlite::params;

use super::{Board, BoardError, stored};
use crate::ticket::{Criterion, Evidence};

impl Board {
    /// Returns the criteria of a ticket, in the order in which they were added.
    ///
    /// # Errors
    /// When the database fails.
    pub fn criteria(&self, ticket: i64) -> Result<Vec<Criterion>, BoardError> {
        criteria(&self.connection(), ticket)
    }

    /// Adds a criterion.
    ///
    /// # Errors
    /// When there is no such ticket, or the database fails.
    pub fn add_criterion(
        &self,
        ticket: i64,
        evidence: &Evidence,
        text: &str,
    ) -> Result<i64, BoardError> {
        self.ticket(ticket)?;
        Ok(self.connection().query_row(
            "INSERT INTO criterion (ticket, text, evidence) VALUES (?, ?, ?) RETURNING id",
            params![ticket, text, evidence],
            |row| row.get(0),
        )?)
    }

    /// Removes a criterion of this ticket.
    ///
    /// # Errors
    /// When the ticket has no such criterion, or the database fails.
    pub fn remove_criterion(&self, ticket: i64, id: i64) -> Result<(), BoardError> {
        let sql = "DELETE FROM criterion WHERE ticket = ? AND id = ?";
        let changed = self.connection().execute(sql, [ticket, id])?;
        found(changed, ticket, id)
    }

    /// Records the finding of a program about a git tree, or the decision of a person, which has no tree. If the
    /// criterion was changed or removed since the check, the method fails and records nothing.
    ///
    /// # Errors
    /// When the ticket has no such criterion with this text, or the database fails.
    pub fn record_finding(
        &self,
        ticket: i64,
        checked: &Criterion,
        now: Timestamp,
    ) -> Result<(), BoardError> {
        let Criterion { id, text, evidence, met, tree, finding } = checked;
        let changed = self.connection().execute(
            "UPDATE criterion SET met = ?, tree = ?, finding = ?, checked_at = ? \
             WHERE ticket = ? AND id = ? AND text = ? AND evidence = ?",
            params![met, tree, finding, stored(now), ticket, id, text, evidence],
        )?;
        found(changed, ticket, *id)
    }
}

pub(super) fn criteria(
    connection: &rusqlite::Connection,
    ticket: i64,
) -> Result<Vec<Criterion>, BoardError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, text, evidence, met, tree, finding FROM criterion WHERE ticket = ? ORDER BY id",
    )?;
    let found = statement.query_map([ticket], |row| {
        Ok(Criterion {
            id: row.get(0)?,
            text: row.get(1)?,
            evidence: row.get(2)?,
            met: row.get(3)?,
            tree: row.get(4)?,
            finding: row.get(5)?,
        })
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn found(changed: usize, ticket: i64, criterion: i64) -> Result<(), BoardError> {
    let id = format!("{criterion} on ticket {ticket}");
    if changed == 1 { Ok(()) } else { Err(BoardError::Missing { what: "criterion", id }) }
}
