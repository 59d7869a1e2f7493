//! Claims of tasks: a worker claims a task, sends heartbeats, and ends the task once, while the claim is valid.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{OptionalExtension as _, Transaction, params};
use toolwright::untrusted::{fenced, line};
use toolwright::{ErrorClass, Holds, ResourceScope, ToolError};

use super::database::unavailable;
use super::id::TaskId;
use super::links::unlink;
use super::status::TaskStatus;
use super::store::TaskStore;
use super::task::{Task, find, find_any};

/// How far the clocks of two workers may differ. A heartbeat that is further ahead came from a clock that was wrong.
const CLOCKS: Duration = Duration::from_secs(24 * 60 * 60);

/// The right of one worker to work on one task: the service of the tools [`WORKER`](crate::WORKER).
///
/// A claim is valid until the task is [finished](Self::finish), or until the task is released, because there was no
/// [heartbeat](Self::heartbeat) for the time of the [lease](TaskStore::lease). Another worker may then claim the task,
/// and this claim can no longer change it.
///
/// An application that works on one task passes the claim to the executor with `.service(claim)`. A process that works
/// on many tasks registers `.per_run::<ClaimedTask>()`, and gives each run its own claim.
#[derive(Clone)]
pub struct ClaimedTask {
    store: TaskStore,
    id: TaskId,
    worker: String,
    epoch: i64,
}

impl TaskStore {
    /// Claims the pending task with the lowest id that is not blocked and that is not reserved for another worker; `None` if
    /// there is none. First releases the tasks whose workers sent no heartbeat for the time of the lease.
    ///
    /// # Errors
    /// `tasks_unavailable` when SQLite fails.
    pub fn claim(&self, worker: &str, now: SystemTime) -> Result<Option<ClaimedTask>, ToolError> {
        let sql = "UPDATE tasks SET status = 'in_progress', worker = ?1, epoch = epoch + 1, heartbeat = ?2, result = NULL
            WHERE id = (
                SELECT id FROM tasks AS open WHERE status = 'pending' AND (owner IS NULL OR owner = ?1)
                    AND NOT EXISTS (
                        SELECT 1 FROM blocks JOIN tasks AS before ON before.id = blocker
                        WHERE blocked = open.id AND before.status <> 'completed'
                    )
                ORDER BY id LIMIT 1
            ) RETURNING id, epoch";
        let now = milliseconds(now);
        let claimed = self.write(|transaction| {
            release(transaction, now, self.lease)?;
            let claimed = transaction
                .query_row(sql, params![worker, now], |row| Ok((TaskId(row.get(0)?), row.get(1)?)))
                .optional();
            claimed.map_err(unavailable)
        })?;
        Ok(claimed.map(|(id, epoch)| ClaimedTask {
            store: self.clone(),
            id,
            worker: worker.to_owned(),
            epoch,
        }))
    }

    /// Releases the tasks whose workers sent no heartbeat for the time of the lease, and returns their ids.
    ///
    /// # Errors
    /// `tasks_unavailable` when SQLite fails.
    pub fn release_stale(&self, now: SystemTime) -> Result<Vec<TaskId>, ToolError> {
        self.write(|transaction| release(transaction, milliseconds(now), self.lease))
    }
}

impl ClaimedTask {
    /// Returns the id of the task.
    #[must_use]
    pub fn id(&self) -> TaskId {
        self.id
    }

    /// Reads the current state of the task.
    ///
    /// # Errors
    /// `not_found` when the task was deleted, `tasks_unavailable` when SQLite fails.
    pub fn task(&self) -> Result<Task, ToolError> {
        find(&self.store.connection(), self.id)
    }

    /// Makes the first message for the run that works on the task: the subject, the description, and the results of the
    /// tasks that blocked it. Each result is fenced, because other agents wrote it.
    ///
    /// # Errors
    /// The same as those of [`task`](Self::task).
    pub fn prompt(&self) -> Result<String, ToolError> {
        let task = self.task()?;
        let mut prompt = format!("{}: {}\n\n{}\n", self.id, task.subject, task.description);
        let connection = self.store.connection();
        let before = task.blocked_by.iter().map(|it| find(&connection, TaskId::parse(it)?));
        let mut before = before.collect::<Result<Vec<_>, _>>()?;
        // A blocker that was added or begun again after the claim has no result.
        before.retain(|it| it.status == TaskStatus::Completed);
        if !before.is_empty() {
            prompt.push_str("\nThe tasks before it are completed, with these results:\n");
        }
        for before in before {
            let source = format!("`{}`, {}", before.id, line(&before.subject));
            let result = before.result.unwrap_or_default();
            prompt.push_str(&format!("\n{}\n", fenced(&source, &result)));
        }
        Ok(prompt)
    }

    /// Renews the lease. A worker calls this several times within the time of a lease.
    ///
    /// # Errors
    /// `claim_lost` when the claim has ended: the task was finished or released, or another worker has claimed it;
    /// `not_found` when the task was deleted; `tasks_unavailable` when SQLite fails.
    pub fn heartbeat(&self, now: SystemTime) -> Result<(), ToolError> {
        let sql =
            "UPDATE tasks SET heartbeat = CASE WHEN heartbeat > ?4 THEN ?3 ELSE max(heartbeat, ?3) END
            WHERE id = ?1 AND epoch = ?2 AND heartbeat IS NOT NULL";
        self.store.write(|transaction| {
            let now = milliseconds(now);
            let values = params![self.id.0, self.epoch, now, latest(now, self.store.lease)];
            match transaction.execute(sql, values).map_err(unavailable)? {
                1 => Ok(()),
                _ => Err(self.lost(&find(transaction, self.id)?)),
            }
        })
    }

    /// Moves the task out of `in_progress` and ends the claim, in one transaction. Only the first call changes the
    /// task. Repeating the same call succeeds without an effect, so that a call whose answer was lost may be repeated.
    ///
    /// # Errors
    /// `claim_lost` when the claim has ended: the task was released, another worker has claimed it, or it was moved to
    /// another state; `invalid_transition` for [`TaskStatus::InProgress`]; `not_found` when the task was deleted;
    /// `tasks_unavailable` when SQLite fails.
    pub fn finish(&self, to: TaskStatus, result: &str) -> Result<(), ToolError> {
        if to == TaskStatus::InProgress {
            let message = format!("`{}` cannot be finished as {to}, which has no end", self.id);
            return Err(ToolError::new("invalid_transition", message).class(ErrorClass::Invalid));
        }
        let sql = "UPDATE tasks SET status = ?3, result = ?4, heartbeat = NULL
            WHERE id = ?1 AND epoch = ?2 AND heartbeat IS NOT NULL";
        self.store.write(|transaction| {
            let values = params![self.id.0, self.epoch, to, result];
            if transaction.execute(sql, values).map_err(unavailable)? == 1 {
                // A deleted task blocks no other.
                return if to == TaskStatus::Deleted {
                    unlink(transaction, self.id)
                } else {
                    Ok(())
                };
            }
            let (task, epoch) = (find_any(transaction, self.id)?, epoch(transaction, self.id)?);
            let is_done =
                epoch == self.epoch && task.status == to && task.result.as_deref() == Some(result);
            if is_done { Ok(()) } else { Err(self.lost(&find(transaction, self.id)?)) }
        })
    }

    fn lost(&self, now: &Task) -> ToolError {
        let worker = now.worker.as_ref().map_or_else(|| "no worker".into(), |it| format!("`{it}`"));
        let message = format!(
            "`{}` is {} and was claimed last by {worker}: the claim of `{}` has ended",
            self.id, now.status, self.worker
        );
        ToolError::new("claim_lost", message).class(ErrorClass::Final).hint("stop working on it")
    }
}

fn epoch(transaction: &Transaction<'_>, id: TaskId) -> Result<i64, ToolError> {
    let query = "SELECT epoch FROM tasks WHERE id = ?1";
    transaction.query_row(query, [id.0], |row| row.get(0)).map_err(unavailable)
}

/// Makes each task pending again whose last heartbeat is at least one lease ago or came from a clock that was wrong, and
/// returns the ids of these tasks.
fn release(
    transaction: &Transaction<'_>,
    now: i64,
    lease: Duration,
) -> Result<Vec<TaskId>, ToolError> {
    let earliest = now.saturating_sub(in_milliseconds(lease));
    let sql = "UPDATE tasks SET status = 'pending', heartbeat = NULL
        WHERE heartbeat <= ?1 OR heartbeat > ?2 RETURNING id";
    let released = || {
        let mut statement = transaction.prepare_cached(sql)?;
        let values = [earliest, latest(now, lease)];
        let rows = statement.query_map(values, |row| Ok(TaskId(row.get(0)?)))?;
        rows.collect::<rusqlite::Result<Vec<_>>>()
    };
    released().map_err(unavailable)
}

/// Returns the latest heartbeat that a worker with a right clock can have sent.
fn latest(now: i64, lease: Duration) -> i64 {
    now.saturating_add(in_milliseconds(lease.max(CLOCKS)))
}

/// Converts a duration to milliseconds.
fn in_milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Converts a time to milliseconds since 1970; 0 for an earlier time.
fn milliseconds(time: SystemTime) -> i64 {
    in_milliseconds(time.duration_since(UNIX_EPOCH).unwrap_or_default())
}

impl Holds<TaskId> for ClaimedTask {
    fn scope(&self) -> ResourceScope {
        Holds::<TaskId>::scope(&self.store)
    }
}

impl fmt::Debug for ClaimedTask {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ClaimedTask")
            .field("id", &self.id)
            .field("worker", &self.worker)
            .field("epoch", &self.epoch)
            .finish_non_exhaustive()
    }
}
