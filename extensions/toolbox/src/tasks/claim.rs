//! Who works on which task: a worker claims one, says that it is alive, and moves it once, while the claim is its own.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{OptionalExtension as _, Transaction, params};
use toolwright::untrusted::{fenced, line};
use toolwright::{ErrorClass, Holds, ResourceScope, ToolError};

use super::database::unavailable;
use super::id::TaskId;
use super::status::TaskStatus;
use super::store::TaskStore;
use super::task::{Task, find};

/// The right of one worker to work on one task: the service of the tools [`WORKER`](crate::WORKER).
///
/// It lasts until the task is [finished](Self::finish), or until no [sign of life](Self::heartbeat) comes for the time of the
/// [lease](TaskStore::lease): another worker may claim the task then, and this claim moves nothing any more.
///
/// An application that works on one task gives it to the executor by `.service(claim)`, one that works on many registers
/// `.per_run::<ClaimedTask>()` and gives each run its own.
#[derive(Clone)]
pub struct ClaimedTask {
    store: TaskStore,
    id: TaskId,
    worker: String,
    epoch: i64,
}

impl TaskStore {
    /// Claims the pending task with the lowest id that may begin and that no other worker owns; `None` where there is none.
    /// Tasks whose workers gave no sign of life for the time of the lease are given back before.
    ///
    /// # Errors
    /// `tasks_unavailable` where SQLite fails.
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

    /// Gives back the tasks whose workers gave no sign of life for the time of the lease, and returns their ids.
    ///
    /// # Errors
    /// `tasks_unavailable` where SQLite fails.
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

    /// Reads the task as it is now.
    ///
    /// # Errors
    /// `not_found` where it was deleted, `tasks_unavailable` where SQLite fails.
    pub fn task(&self) -> Result<Task, ToolError> {
        find(&self.store.connection(), self.id)
    }

    /// Writes the first message of the run that works on it: subject, description, and the results of the tasks that it waited for,
    /// each in a fence, because they are the words of other agents.
    ///
    /// # Errors
    /// As those of [`task`](Self::task).
    pub fn prompt(&self) -> Result<String, ToolError> {
        let task = self.task()?;
        let mut prompt = format!("{}: {}\n\n{}\n", self.id, task.subject, task.description);
        let connection = self.store.connection();
        for (index, blocker) in task.blocked_by.iter().enumerate() {
            let before = find(&connection, TaskId::parse(blocker)?)?;
            if index == 0 {
                prompt.push_str("\nThe tasks before it are completed, with these results:\n");
            }
            let source = format!("`{blocker}`, {}", line(&before.subject));
            let result = before.result.unwrap_or_default();
            prompt.push_str(&format!("\n{}\n", fenced(&source, &result)));
        }
        Ok(prompt)
    }

    /// Says that the worker is alive. A worker does so several times in the time of a lease.
    ///
    /// # Errors
    /// `claim_lost` where the task is another's meanwhile or was finished, `tasks_unavailable` where SQLite fails.
    pub fn heartbeat(&self, now: SystemTime) -> Result<(), ToolError> {
        let sql = "UPDATE tasks SET heartbeat = max(heartbeat, ?3)
            WHERE id = ?1 AND epoch = ?2 AND heartbeat IS NOT NULL";
        self.store.write(|transaction| {
            let values = params![self.id.0, self.epoch, milliseconds(now)];
            match transaction.execute(sql, values).map_err(unavailable)? {
                1 => Ok(()),
                _ => Err(self.lost(&find(transaction, self.id)?)),
            }
        })
    }

    /// Moves the task out of `in_progress` and ends the claim, in one transaction. The first that does so counts; the
    /// same once more changes nothing and succeeds, so that a call whose answer was lost may be repeated.
    ///
    /// # Errors
    /// `claim_lost` where the task is another's meanwhile or was moved otherwise, `tasks_unavailable` where SQLite fails.
    pub fn finish(&self, to: TaskStatus, result: &str) -> Result<(), ToolError> {
        let sql = "UPDATE tasks SET status = ?3, result = ?4, heartbeat = NULL
            WHERE id = ?1 AND epoch = ?2 AND heartbeat IS NOT NULL";
        self.store.write(|transaction| {
            let values = params![self.id.0, self.epoch, to, result];
            if transaction.execute(sql, values).map_err(unavailable)? == 1 {
                return Ok(());
            }
            let (task, epoch) = (find(transaction, self.id)?, epoch(transaction, self.id)?);
            let is_done =
                epoch == self.epoch && task.status == to && task.result.as_deref() == Some(result);
            if is_done { Ok(()) } else { Err(self.lost(&task)) }
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

/// Makes tasks pending again whose workers were alive no later than a lease ago.
fn release(
    transaction: &Transaction<'_>,
    now: i64,
    lease: Duration,
) -> Result<Vec<TaskId>, ToolError> {
    let latest = now.saturating_sub(i64::try_from(lease.as_millis()).unwrap_or(i64::MAX));
    let sql =
        "UPDATE tasks SET status = 'pending', heartbeat = NULL WHERE heartbeat <= ?1 RETURNING id";
    let released = || {
        let mut statement = transaction.prepare_cached(sql)?;
        let rows = statement.query_map([latest], |row| Ok(TaskId(row.get(0)?)))?;
        rows.collect::<rusqlite::Result<Vec<_>>>()
    };
    released().map_err(unavailable)
}

/// Since 1970; a clock before that reads 0.
fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
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
