//! Projects, tickets and documents.

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, params};

use super::{Board, BoardError, stored};
use crate::ticket::{Document, NewTicket, Project, Ticket};

const PROJECT: &str = "SELECT id, name, repository, url, language, branch, persona FROM project";
const TICKET: &str =
    "SELECT id, project, kind, state, sub_state, title, description, profile FROM ticket";

impl Board {
    /// Adds a project, and returns its new id.
    ///
    /// # Errors
    /// When the name is taken, or the database fails.
    pub fn add_project(&self, project: &Project) -> Result<i64, BoardError> {
        let Project { name, repository, url, language, branch, persona, .. } = project;
        let id = self.connection().query_row(
            "INSERT INTO project (name, repository, url, language, branch, persona) VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
            params![name, repository, url, language, branch, persona],
            |row| row.get(0),
        )?;
        Ok(id)
    }

    /// Returns the project with this id.
    ///
    /// # Errors
    /// When there is no such project, or the database fails.
    pub fn project(&self, id: i64) -> Result<Project, BoardError> {
        let connection = self.connection();
        let found =
            connection.query_row(&format!("{PROJECT} WHERE id = ?"), [id], project).optional()?;
        found.ok_or_else(|| BoardError::Missing { what: "project", id: id.to_string() })
    }

    /// Returns the project with this name.
    ///
    /// # Errors
    /// When there is no such project, or the database fails.
    pub fn project_named(&self, name: &str) -> Result<Project, BoardError> {
        let connection = self.connection();
        let found = connection
            .query_row(&format!("{PROJECT} WHERE name = ?"), [name], project)
            .optional()?;
        found.ok_or_else(|| BoardError::Missing { what: "project", id: format!("`{name}`") })
    }

    /// Returns every project, in the order in which they were added.
    ///
    /// # Errors
    /// When the database fails.
    pub fn projects(&self) -> Result<Vec<Project>, BoardError> {
        let connection = self.connection();
        let mut statement = connection.prepare_cached(&format!("{PROJECT} ORDER BY id"))?;
        Ok(statement.query_map([], project)?.collect::<Result<_, _>>()?)
    }

    /// Adds a ticket with its criteria, and returns its new id.
    ///
    /// # Errors
    /// When there is no such project, or the database fails.
    pub fn add_ticket(&self, new: &NewTicket, now: Timestamp) -> Result<i64, BoardError> {
        self.transaction(|transaction| {
            let NewTicket { project, kind, state, title, description, profile, criteria } = new;
            let ticket: i64 = transaction.query_row(
                "INSERT INTO ticket (project, kind, state, title, description, profile, created_at, updated_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7) RETURNING id",
                params![project, kind, state, title, description, profile, stored(now)],
                |row| row.get(0),
            )?;
            for (evidence, text) in criteria {
                transaction.execute(
                    "INSERT INTO criterion (ticket, text, evidence) VALUES (?, ?, ?)",
                    params![ticket, text, evidence],
                )?;
            }
            Ok(ticket)
        })
    }

    /// Returns the ticket with this id.
    ///
    /// # Errors
    /// When there is no such ticket, or the database fails.
    pub fn ticket(&self, id: i64) -> Result<Ticket, BoardError> {
        let connection = self.connection();
        let found =
            connection.query_row(&format!("{TICKET} WHERE id = ?"), [id], ticket).optional()?;
        found.ok_or_else(|| BoardError::Missing { what: "ticket", id: id.to_string() })
    }

    /// Returns the tickets of one project, or of all projects.
    ///
    /// # Errors
    /// When the database fails.
    pub fn tickets(&self, project: Option<i64>) -> Result<Vec<Ticket>, BoardError> {
        let connection = self.connection();
        let mut statement = connection
            .prepare_cached(&format!("{TICKET} WHERE ?1 IS NULL OR project = ?1 ORDER BY id"))?;
        Ok(statement.query_map([project], ticket)?.collect::<Result<_, _>>()?)
    }

    /// Returns the documents of a ticket.
    ///
    /// # Errors
    /// When the database fails.
    pub fn documents(&self, ticket: i64) -> Result<Vec<Document>, BoardError> {
        let connection = self.connection();
        let mut statement = connection
            .prepare_cached("SELECT kind, status FROM document WHERE ticket = ? ORDER BY id")?;
        let found = statement
            .query_map([ticket], |row| Ok(Document { kind: row.get(0)?, status: row.get(1)? }))?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}

fn project(row: &Row<'_>) -> rusqlite::Result<Project> {
    Ok(Project {
        id: row.get(0)?,
        name: row.get(1)?,
        repository: row.get(2)?,
        url: row.get(3)?,
        language: row.get(4)?,
        branch: row.get(5)?,
        persona: row.get(6)?,
    })
}

fn ticket(row: &Row<'_>) -> rusqlite::Result<Ticket> {
    Ok(Ticket {
        id: row.get(0)?,
        project: row.get(1)?,
        kind: row.get(2)?,
        state: row.get(3)?,
        sub_state: row.get(4)?,
        title: row.get(5)?,
        description: row.get(6)?,
        profile: row.get(7)?,
    })
}
