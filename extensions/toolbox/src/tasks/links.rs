//! Links between tasks. A link says that one task blocks another, and both tasks show it. Links never form a cycle.

use rusqlite::{OptionalExtension as _, Transaction, params};
use toolwright::{ErrorClass, ResourceKind, ToolError};

use super::database::unavailable;
use super::id::TaskId;
use super::task::missing;

/// The resource for the blockers of a task, named by the task's id. A call that begins a task reads the resource, so
/// that the call runs after those that change the task's links.
pub(super) struct TaskLinks;

impl ResourceKind for TaskLinks {
    const LABEL: &'static str = "links of a task";
    const DECIDES: bool = true;

    fn normalise(name: &str) -> String {
        TaskId::normalise(name)
    }
}

/// The SQL query for the blockers of a task that are not completed.
pub(super) const OPEN_BLOCKERS: &str = "SELECT blocker FROM blocks JOIN tasks ON tasks.id = blocker
    WHERE blocked = ?1 AND status <> 'completed' ORDER BY 1";

/// The SQL query that returns whether the first task blocks the second, directly or through others.
const REACHES: &str = "WITH RECURSIVE reached (task) AS (
        SELECT ?1 UNION SELECT blocked FROM blocks JOIN reached ON blocker = task
    ) SELECT EXISTS (SELECT 1 FROM reached WHERE task = ?2)";

/// Makes the task `blocked` wait for the task `blocker`. If the link exists, nothing changes.
pub(super) fn link(
    transaction: &Transaction<'_>,
    blocker: TaskId,
    blocked: TaskId,
) -> Result<(), ToolError> {
    if blocker == blocked {
        return Err(refused(format!("`{blocked}` cannot block itself")));
    }
    for id in [blocker, blocked] {
        let query = "SELECT 1 FROM tasks WHERE id = ?1 AND status <> 'deleted'";
        let there = transaction.query_row(query, [id.0], |_| Ok(())).optional();
        there.map_err(unavailable)?.ok_or_else(|| missing(id))?;
    }
    let is_circle: bool = transaction
        .query_row(REACHES, params![blocked.0, blocker.0], |row| row.get(0))
        .map_err(unavailable)?;
    if is_circle {
        return Err(refused(format!(
            "`{blocker}` cannot block `{blocked}`, which blocks `{blocker}` itself or through others"
        )));
    }
    let insert = "INSERT OR IGNORE INTO blocks (blocker, blocked) VALUES (?1, ?2)";
    transaction.execute(insert, params![blocker.0, blocked.0]).map_err(unavailable)?;
    Ok(())
}

/// Removes every link of a task.
pub(super) fn unlink(transaction: &Transaction<'_>, id: TaskId) -> Result<(), ToolError> {
    let delete = "DELETE FROM blocks WHERE ?1 IN (blocker, blocked)";
    transaction.execute(delete, [id.0]).map_err(unavailable)?;
    Ok(())
}

fn refused(message: String) -> ToolError {
    ToolError::new("task_cycle", message)
        .class(ErrorClass::Invalid)
        .hint("tasks that wait for each other never begin; leave one of the links out")
}
