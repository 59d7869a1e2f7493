//! A bundle of the tools for tasks and the services that they need.

use toolwright::{Bundle, ExecutorBuilder};

use super::claim::ClaimedTask;
use super::store::TaskStore;
use super::{TASKS, WORKER};

/// A task list with its tools, as a [`Bundle`]: `.with(TaskTools::of(tasks))`.
///
/// ```
/// use std::time::SystemTime;
///
/// use toolwright::{Call, Executor, Registry};
/// use toolwright_toolbox::{NewTask, TaskStore, TaskTools};
///
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("tasks.db");
/// let tasks = TaskStore::open(file)?;
/// tasks.create(&NewTask::new("Read the log", "Find the first error in it."))?;
/// let claim = tasks.claim("ada", SystemTime::now())?.expect("there is one");
/// let executor = Executor::builder(Registry::empty()).with(TaskTools::of(tasks.clone()).worker(claim)).build()?;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let end = executor.call(&Call::new("complete_task", r#"{"summary":"line 7"}"#)).await;
/// assert_eq!(end.text(), r#"{"id":"task-1","status":"completed"}"#);
/// assert_eq!(tasks.get("1")?.result.as_deref(), Some("line 7"));
/// # Ok::<(), toolwright::ToolError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "an executor has these tools only after `.with(…)`"]
pub struct TaskTools {
    store: TaskStore,
    claim: Option<ClaimedTask>,
    is_worker: bool,
}

impl TaskTools {
    /// Makes the tools with which an agent records tasks: [`TASKS`].
    pub fn of(store: TaskStore) -> Self {
        Self { store, claim: None, is_worker: false }
    }

    /// Adds the tools with which a run ends its task, [`WORKER`], for an executor that works on this one task.
    pub fn worker(mut self, claim: ClaimedTask) -> Self {
        self.claim = Some(claim);
        self.is_worker = true;
        self
    }

    /// Adds the tools with which a run ends its task, [`WORKER`], for an executor whose runs each get their own
    /// [`ClaimedTask`].
    pub fn workers(mut self) -> Self {
        self.claim = None;
        self.is_worker = true;
        self
    }
}

impl Bundle for TaskTools {
    fn name(&self) -> String {
        "task tools".to_owned()
    }

    fn install(self, executor: ExecutorBuilder) -> ExecutorBuilder {
        let executor = executor.tools(TASKS).service(self.store);
        match (self.is_worker, self.claim) {
            (false, _) => executor,
            (true, Some(claim)) => executor.tools(WORKER).service(claim),
            (true, None) => executor.tools(WORKER).per_run::<ClaimedTask>(),
        }
    }
}
