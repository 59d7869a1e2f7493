//! Changes a task. The conditions are checked in the same transaction as the change, so that no other writer can intervene.

use std::collections::BTreeMap;

use rusqlite::{Transaction, params};
use serde_json::Value;
use toolwright::{ErrorClass, ToolError};

use super::database::unavailable;
use super::id::TaskId;
use super::links::{OPEN_BLOCKERS, link, unlink};
use super::status::TaskStatus;
use super::store::{TaskStore, check_subject};
use super::task::{Task, find, find_any, ids};

/// A change of a task. Fields that are empty or `None` change nothing.
#[derive(Debug, Clone, Default)]
pub struct TaskUpdate {
    /// The new subject.
    pub subject: Option<String>,
    /// The new description of the work to be done.
    pub description: Option<String>,
    /// The new state.
    pub status: Option<TaskStatus>,
    /// The new owner; an empty text removes the owner.
    pub owner: Option<String>,
    /// Additional tasks that have to be completed before this task.
    pub add_blocked_by: Vec<String>,
    /// Additional tasks that wait for this task.
    pub add_blocks: Vec<String>,
    /// Metadata to be added or replaced; `null` removes a key.
    pub metadata: BTreeMap<String, Value>,
}

impl TaskStore {
    /// Changes a task: everything that is given, or nothing.
    ///
    /// # Errors
    /// `invalid_task_id`; `not_found`; `invalid_input` for a subject that is empty, too long or not one line;
    /// `invalid_transition` when the state may not follow the present one; `task_blocked` when a task is to begin
    /// before its blockers are completed; `task_claimed` when the state of a claimed task is to change; `task_cycle`
    /// when tasks would wait for each other; `tasks_unavailable` when SQLite fails.
    pub fn update(&self, id: &str, update: &TaskUpdate) -> Result<Task, ToolError> {
        let id = TaskId::parse(id)?;
        let parse =
            |ids: &[String]| ids.iter().map(|it| TaskId::parse(it)).collect::<Result<Vec<_>, _>>();
        let (blockers, blocked) = (parse(&update.add_blocked_by)?, parse(&update.add_blocks)?);
        update.subject.as_deref().map_or(Ok(()), check_subject)?;
        self.write(|transaction| {
            let mut task = find(transaction, id)?;
            for blocker in blockers {
                link(transaction, blocker, id)?;
            }
            for blocked in blocked {
                link(transaction, id, blocked)?;
            }
            for (key, value) in &update.metadata {
                match value {
                    Value::Null => task.metadata.remove(key),
                    value => task.metadata.insert(key.clone(), value.clone()),
                };
            }
            let metadata = Value::from_iter(task.metadata).to_string();
            let sql = "UPDATE tasks SET subject = coalesce(?2, subject), description = coalesce(?3, description),
                owner = nullif(coalesce(?4, owner), ''), metadata = ?5 WHERE id = ?1";
            let values = params![id.0, update.subject, update.description, update.owner, metadata];
            transaction.execute(sql, values).map_err(unavailable)?;
            match update.status {
                Some(to) if to != task.status => transition(transaction, id, to)?,
                _ => {}
            }
            if update.status == Some(TaskStatus::Deleted) {
                unlink(transaction, id)?;
            }
            find_any(transaction, id)
        })
    }
}

/// Moves a task to another state, if no worker has claimed the task and the move is allowed.
fn transition(transaction: &Transaction<'_>, id: TaskId, to: TaskStatus) -> Result<(), ToolError> {
    let before: Vec<String> = to.before().map(|it| format!("'{it}'")).collect();
    let sql = format!(
        "UPDATE tasks SET status = ?2, result = CASE WHEN ?2 = 'pending' THEN NULL ELSE result END
        WHERE id = ?1 AND heartbeat IS NULL AND status IN ({})
            AND (?2 <> 'in_progress' OR NOT EXISTS ({OPEN_BLOCKERS}))",
        before.join(", ")
    );
    let changed = transaction.execute(&sql, params![id.0, to]).map_err(unavailable)?;
    if changed == 1 { Ok(()) } else { Err(refusal(transaction, id, to)?) }
}

/// Returns the reason why a task cannot be moved.
fn refusal(
    transaction: &Transaction<'_>,
    id: TaskId,
    to: TaskStatus,
) -> Result<ToolError, ToolError> {
    let query =
        "SELECT status, CASE WHEN heartbeat IS NOT NULL THEN worker END FROM tasks WHERE id = ?1";
    let found = transaction.query_row(query, [id.0], |row| Ok((row.get(0)?, row.get(1)?)));
    let (from, worker): (TaskStatus, Option<String>) = found.map_err(unavailable)?;
    if let Some(worker) = worker {
        let message = format!("`{id}` is claimed by `{worker}`, which alone moves it");
        return Ok(ToolError::new("task_claimed", message).hint("wait until its worker has ended"));
    }
    if from.may_become(to) {
        let open = ids(transaction, OPEN_BLOCKERS, id).map_err(unavailable)?;
        let message = format!("`{id}` cannot begin: it waits for {}", open.join(", "));
        return Ok(ToolError::new("task_blocked", message).hint("complete what blocks it first"));
    }
    let next: Vec<&str> = TaskStatus::ALL
        .into_iter()
        .filter(|it| from.may_become(*it))
        .map(TaskStatus::word)
        .collect();
    let message = format!(
        "`{id}` is {from}, from which it cannot become {to}; expected one of: {}",
        next.join(", ")
    );
    Ok(ToolError::new("invalid_transition", message).class(ErrorClass::Invalid))
}
