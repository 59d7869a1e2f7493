//! Cards: what a list shows of each ticket. A column is read page by page.

use jiff::Timestamp;
use rusqlite::{Row, named_params};

use super::{Board, BoardError, stored, time};
use crate::ticket::{State, SubState, TicketKind};

/// A ticket as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    pub id: i64,
    /// The name of the ticket's project.
    pub project: String,
    pub kind: TicketKind,
    pub state: State,
    pub sub_state: Option<SubState>,
    pub title: String,
    /// How many criteria the ticket has.
    pub criteria: u32,
    /// How many of these criteria are met.
    pub met: u32,
    pub comments: u32,
    /// The runner that works on the ticket now.
    pub runner: Option<String>,
    pub updated_at: Timestamp,
}

const CARD: &str = "\
SELECT ticket.id, project.name, ticket.kind, state, sub_state, title, \
    (SELECT count(*) FROM criterion WHERE criterion.ticket = ticket.id), \
    (SELECT count(*) FROM criterion WHERE criterion.ticket = ticket.id AND met), \
    (SELECT count(*) FROM comment WHERE comment.ticket = ticket.id), \
    CASE WHEN lease_until > :now THEN runner END, updated_at \
FROM ticket JOIN project ON project.id = ticket.project";

impl Board {
    /// Returns at most this many tickets of a column, the newest first, and if a ticket is named, only those before it.
    ///
    /// # Errors
    /// When the database fails.
    pub fn column(
        &self,
        state: State,
        before: Option<i64>,
        most: u32,
        now: Timestamp,
    ) -> Result<Vec<Card>, BoardError> {
        let sql = format!(
            "{CARD} WHERE state = :state AND ticket.id < :before ORDER BY ticket.id DESC LIMIT :most"
        );
        let connection = self.connection();
        let mut statement = connection.prepare_cached(&sql)?;
        let values = named_params! {
            ":state": state, ":before": before.unwrap_or(i64::MAX), ":most": most, ":now": stored(now)
        };
        Ok(statement.query_map(values, card)?.collect::<Result<_, _>>()?)
    }

    /// Returns at most this many tickets that wait for a person. Those with a waiting call come first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn waiting_for_people(&self, most: u32, now: Timestamp) -> Result<Vec<Card>, BoardError> {
        let sql = format!(
            "{CARD} WHERE state IN ('RESEARCH', 'IN_PROGRESS') AND sub_state IN ('waiting', 'blocked', 'failed') \
             ORDER BY CASE sub_state WHEN 'waiting' THEN 0 WHEN 'blocked' THEN 1 ELSE 2 END, updated_at, ticket.id LIMIT :most"
        );
        let connection = self.connection();
        let mut statement = connection.prepare_cached(&sql)?;
        let values = named_params! { ":most": most, ":now": stored(now) };
        Ok(statement.query_map(values, card)?.collect::<Result<_, _>>()?)
    }

    /// Returns a ticket as a list shows it.
    ///
    /// # Errors
    /// When there is none, or the database fails.
    pub fn card(&self, ticket: i64, now: Timestamp) -> Result<Card, BoardError> {
        let connection = self.connection();
        let mut statement = connection.prepare_cached(&format!("{CARD} WHERE ticket.id = :id"))?;
        let values = named_params! { ":id": ticket, ":now": stored(now) };
        let mut found = statement.query_map(values, card)?;
        let missing = || BoardError::Missing { what: "ticket", id: ticket.to_string() };
        Ok(found.next().ok_or_else(missing)??)
    }

    /// Returns how many tickets a column has.
    ///
    /// # Errors
    /// When the database fails.
    pub fn count(&self, state: State) -> Result<u32, BoardError> {
        let sql = "SELECT count(*) FROM ticket WHERE state = ?";
        Ok(self.connection().query_row(sql, [state], |row| row.get(0))?)
    }

    /// Lets the next heartbeat pick a ticket again, because a person has decided about a call of its agent.
    ///
    /// # Errors
    /// When the database fails.
    pub fn wake(&self, ticket: i64) -> Result<(), BoardError> {
        self.connection().execute("UPDATE ticket SET not_before = 0 WHERE id = ?", [ticket])?;
        Ok(())
    }
}

fn card(row: &Row<'_>) -> rusqlite::Result<Card> {
    Ok(Card {
        id: row.get(0)?,
        project: row.get(1)?,
        kind: row.get(2)?,
        state: row.get(3)?,
        sub_state: row.get(4)?,
        title: row.get(5)?,
        criteria: row.get(6)?,
        met: row.get(7)?,
        comments: row.get(8)?,
        runner: row.get(9)?,
        updated_at: time(row.get(10)?),
    })
}
