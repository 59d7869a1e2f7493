//! The task list's API for applications: tasks in one SQLite file, which several processes may use at once.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use toolwright::{ErrorClass, Holds, ResourceScope, ToolError};

use super::database::{self, TaskStoreError, unavailable};
use super::id::TaskId;
use super::links::{OPEN_BLOCKERS, TaskLinks, link};
use super::status::TaskStatus;
use super::task::{Task, TaskSummary, find, ids};

/// The time without a heartbeat after which a claim ends, unless the application sets another.
const LEASE: Duration = Duration::from_secs(5 * 60);

/// The maximum length of a subject, in characters.
const LONGEST_SUBJECT: usize = 500;

/// A list of tasks, and the service of the tools [`TASKS`](crate::TASKS). Agents record tasks, and workers
/// [claim](Self::claim) tasks and do them.
///
/// Everything is in one SQLite file, which only its owner can read and which several processes may use at once. A clone
/// uses the same file.
///
/// ```
/// use std::time::SystemTime;
///
/// use toolwright_toolbox::{NewTask, TaskStatus, TaskStore};
///
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("tasks.db");
/// let tasks = TaskStore::open(file)?;
/// let first = tasks.create(&NewTask::new("Read the log", "Find the first error in it."))?;
/// let second = tasks.create(&NewTask::new("Repair it", "Repair what the log says.").blocked_by(&first.id))?;
///
/// let now = SystemTime::now();
/// let claim = tasks.claim("ada", now)?.expect("the first may begin");
/// assert_eq!(claim.id().to_string(), first.id);
/// assert!(tasks.claim("bob", now)?.is_none(), "the second waits for the first");
/// claim.finish(TaskStatus::Completed, "line 7: no space left")?;
///
/// let claim = tasks.claim("bob", now)?.expect("the second may begin");
/// assert_eq!(claim.id().to_string(), second.id);
/// assert!(claim.prompt()?.contains("line 7: no space left"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct TaskStore {
    file: PathBuf,
    connection: Arc<Mutex<Connection>>,
    /// A connection for footprints alone. They are made on threads of the runtime, which must not wait for a write.
    reader: Arc<Mutex<Connection>>,
    pub(super) lease: Duration,
}

/// A task to be added to the list.
#[derive(Debug, Clone, Default)]
#[must_use = "it is in the list only after `create`"]
pub struct NewTask {
    subject: String,
    description: String,
    owner: Option<String>,
    blocked_by: Vec<String>,
    key: Option<String>,
}

impl NewTask {
    /// Makes a task without blockers that any worker may claim.
    pub fn new(subject: impl Into<String>, description: impl Into<String>) -> Self {
        Self { subject: subject.into(), description: description.into(), ..Self::default() }
    }

    /// Makes the task wait until another task is completed.
    pub fn blocked_by(mut self, id: impl Into<String>) -> Self {
        self.blocked_by.push(id.into());
        self
    }

    /// Reserves the task for this worker; an empty text reserves it for none.
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.owner = Some(owner.into());
        self
    }

    /// Sets an idempotency key: a second task with the same key is not added.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }
}

impl TaskStore {
    /// Opens a task list, or creates its file.
    ///
    /// # Errors
    /// When the file cannot be created or opened, is not a task list, or a later version of this crate has written it.
    pub fn open(file: impl AsRef<Path>) -> Result<Self, TaskStoreError> {
        let file = file.as_ref();
        let unmade = |source| TaskStoreError::Unmade { file: file.to_owned(), source };
        let file = std::path::absolute(file).map_err(unmade)?;
        let connection = Arc::new(Mutex::new(database::open(&file)?));
        let reader = Arc::new(Mutex::new(database::open(&file)?));
        Ok(Self { file, connection, reader, lease: LEASE })
    }

    /// Sets the time without a [heartbeat](crate::ClaimedTask::heartbeat) after which a claim ends: five minutes unless set.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Returns the absolute path of the file, for [`PolicyBuilder::journal`](toolwright::policy::PolicyBuilder::journal), which
    /// protects it from tools. Two more files with its name, ending in `-wal` and `-shm`, belong to it.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Adds a task.
    ///
    /// # Errors
    /// `invalid_input` for a subject that is empty, has more than 500 characters or is not one line; `invalid_task_id`;
    /// `not_found` when a blocker does not exist; `tasks_unavailable` when SQLite fails.
    pub fn create(&self, task: &NewTask) -> Result<Task, ToolError> {
        check_subject(&task.subject)?;
        let blockers = task.blocked_by.iter().map(|it| TaskId::parse(it));
        let blockers = blockers.collect::<Result<Vec<_>, _>>()?;
        self.write(|transaction| {
            let made = "SELECT id FROM tasks WHERE key = ?1";
            let made = transaction.query_row(made, [&task.key], |row| row.get(0)).optional();
            if let Some(made) = made.map_err(unavailable)? {
                return find(transaction, TaskId(made));
            }
            let insert =
                "INSERT INTO tasks (subject, description, owner, key) VALUES (?1, ?2, nullif(?3, ''), ?4)";
            let values = params![task.subject, task.description, task.owner, task.key];
            transaction.execute(insert, values).map_err(unavailable)?;
            let id = TaskId(transaction.last_insert_rowid());
            for blocker in blockers {
                link(transaction, blocker, id)?;
            }
            find(transaction, id)
        })
    }

    /// Returns the task with this id.
    ///
    /// # Errors
    /// `invalid_task_id`, `not_found`, `tasks_unavailable` when SQLite fails.
    pub fn get(&self, id: &str) -> Result<Task, ToolError> {
        find(&self.connection(), TaskId::parse(id)?)
    }

    /// Lists the tasks: first those in progress, then those that are pending, waiting, failed and completed, each sorted by id.
    /// Deleted tasks are never listed.
    ///
    /// # Errors
    /// `tasks_unavailable` when SQLite fails.
    pub fn list(
        &self,
        status: Option<TaskStatus>,
        owner: Option<&str>,
    ) -> Result<Vec<TaskSummary>, ToolError> {
        let query = "SELECT id, subject, status, owner FROM tasks
            WHERE status <> 'deleted' AND status = coalesce(?1, status) AND (?2 IS NULL OR owner = ?2)
            ORDER BY CASE status WHEN 'in_progress' THEN 0 WHEN 'pending' THEN 1 WHEN 'waiting' THEN 2
                WHEN 'failed' THEN 3 ELSE 4 END, id";
        let connection = self.connection();
        let listed = || {
            let mut statement = connection.prepare_cached(query)?;
            let rows = statement.query_map(params![status, owner], |row| {
                let id = TaskId(row.get(0)?);
                Ok(TaskSummary {
                    id: id.to_string(),
                    subject: row.get(1)?,
                    status: row.get(2)?,
                    owner: row.get(3)?,
                    open_blockers: ids(&connection, OPEN_BLOCKERS, id)?,
                })
            })?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        listed().map_err(unavailable)
    }

    /// Returns the blockers of a task that are not completed, for footprints. If the list cannot be read, returns none,
    /// since the tool itself will then fail.
    pub(super) fn open_blockers(&self, id: &str) -> Vec<String> {
        let Ok(id) = TaskId::parse(id) else { return Vec::new() };
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        ids(&reader, OPEN_BLOCKERS, id).unwrap_or_default()
    }

    /// Runs `write` in one transaction, which excludes other writers. If `write` fails, the transaction is rolled back.
    pub(super) fn write<T>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        let mut connection = self.connection();
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(unavailable)?;
        let done = write(&transaction)?;
        transaction.commit().map_err(unavailable)?;
        Ok(done)
    }

    pub(super) fn connection(&self) -> MutexGuard<'_, Connection> {
        // A thread that panicked has rolled its transaction back, so the connection is usable.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Refuses a subject that is empty or too long, or that has a line break or another control character.
pub(super) fn check_subject(subject: &str) -> Result<(), ToolError> {
    let problem = if subject.trim().is_empty() {
        "it is empty"
    } else if subject.chars().count() > LONGEST_SUBJECT {
        "it has more than 500 characters"
    } else if subject.chars().any(char::is_control) {
        "it has a line break or another control character"
    } else {
        return Ok(());
    };
    Err(ToolError::invalid(format!("`subject` is not a short line: {problem}"))
        .class(ErrorClass::Invalid)
        .hint("say in a few words what the task is about; `description` takes the rest"))
}

impl Holds<TaskId> for TaskStore {
    fn scope(&self) -> ResourceScope {
        ResourceScope::new(self.file.to_string_lossy().into_owned())
    }
}

impl Holds<TaskLinks> for TaskStore {
    fn scope(&self) -> ResourceScope {
        Holds::<TaskId>::scope(self)
    }
}

impl fmt::Debug for TaskStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TaskStore").field("file", &self.file).finish_non_exhaustive()
    }
}
