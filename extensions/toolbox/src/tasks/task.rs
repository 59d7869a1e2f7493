//! A task in the form that tools show, and how it is read from the database.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, Row};
use serde_json::Value;
use toolwright::ToolError;

use super::database::unavailable;
use super::id::TaskId;
use super::status::TaskStatus;

/// A task.
#[toolwright::data]
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Task {
    /// Its id, such as `task-1`.
    pub id: String,
    /// What it is about, on one line.
    pub subject: String,
    /// What is to be done.
    pub description: String,
    /// Its state.
    pub status: TaskStatus,
    /// Who it is meant for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The worker that claimed it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// The tasks that have to be completed before it.
    pub blocked_by: Vec<String>,
    /// The tasks that wait for it.
    pub blocks: Vec<String>,
    /// Whatever else is recorded.
    pub metadata: BTreeMap<String, Value>,
    /// The summary of a completed task, or why it failed or waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// A line of a task list.
#[toolwright::data]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskSummary {
    /// Its id, such as `task-1`.
    pub id: String,
    /// What it is about.
    pub subject: String,
    /// Its state.
    pub status: TaskStatus,
    /// Who it is meant for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The tasks that block it and are not completed.
    pub open_blockers: Vec<String>,
}

/// Reads a task that is not deleted.
pub(super) fn find(connection: &Connection, id: TaskId) -> Result<Task, ToolError> {
    let task = find_any(connection, id)?;
    if task.status == TaskStatus::Deleted { Err(missing(id)) } else { Ok(task) }
}

/// Reads a task, even a deleted one.
pub(super) fn find_any(connection: &Connection, id: TaskId) -> Result<Task, ToolError> {
    let query = "SELECT subject, description, status, owner, worker, metadata, result FROM tasks WHERE id = ?1";
    let read = |row: &Row<'_>| {
        let metadata: String = row.get(5)?;
        let metadata = serde_json::from_str(&metadata).map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(5, rusqlite::types::Type::Text, error.into())
        })?;
        Ok(Task {
            id: id.to_string(),
            subject: row.get(0)?,
            description: row.get(1)?,
            status: row.get(2)?,
            owner: row.get(3)?,
            worker: row.get(4)?,
            blocked_by: ids(
                connection,
                "SELECT blocker FROM blocks WHERE blocked = ?1 ORDER BY 1",
                id,
            )?,
            blocks: ids(
                connection,
                "SELECT blocked FROM blocks WHERE blocker = ?1 ORDER BY 1",
                id,
            )?,
            metadata,
            result: row.get(6)?,
        })
    };
    let task = connection
        .prepare_cached(query)
        .and_then(|mut statement| statement.query_row([id.0], read).optional())
        .map_err(unavailable)?;
    task.ok_or_else(|| missing(id))
}

/// Returns the ids that a query finds for a task.
pub(super) fn ids(
    connection: &Connection,
    query: &str,
    of: TaskId,
) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare_cached(query)?;
    statement.query_map([of.0], |row| Ok(TaskId(row.get(0)?).to_string()))?.collect()
}

pub(super) fn missing(id: TaskId) -> ToolError {
    ToolError::new("not_found", format!("there is no `{id}`"))
        .hint("list the tasks to find their ids")
}
