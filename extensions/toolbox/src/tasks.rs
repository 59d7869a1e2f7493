//! The task list: agents record tasks, and workers claim tasks and end them with tools.

mod bundle;
mod claim;
mod complete_task;
mod database;
mod end;
mod fail_task;
mod id;
mod links;
mod status;
mod store;
mod task;
mod task_create;
mod task_get;
mod task_list;
mod task_update;
mod update;
mod wait_task;

use toolwright::Handle;

pub use bundle::TaskTools;
pub use claim::ClaimedTask;
pub use complete_task::{COMPLETE_TASK, complete_task};
pub use database::TaskStoreError;
pub use end::EndedTask;
pub use fail_task::{FAIL_TASK, fail_task};
pub use id::TaskId;
pub use status::TaskStatus;
pub use store::{NewTask, TaskStore};
pub use task::{Task, TaskSummary};
pub use task_create::{TASK_CREATE, task_create};
pub use task_get::{TASK_GET, task_get};
pub use task_list::{TASK_LIST, task_list};
pub use task_update::{TASK_UPDATE, task_update};
pub use update::TaskUpdate;
pub use wait_task::{WAIT_TASK, wait_task};

/// The tools of a [`TaskStore`], which they need as a service.
///
/// ```
/// use toolwright_toolbox::TASKS;
///
/// let names: Vec<&str> = TASKS.iter().map(|tool| tool.name()).collect();
/// assert_eq!(names, ["task_create", "task_update", "task_get", "task_list"]);
/// ```
pub const TASKS: [Handle; 4] = [TASK_CREATE, TASK_UPDATE, TASK_GET, TASK_LIST];

/// The tools that end a worker's run and the task that the worker has claimed. They need the [`ClaimedTask`] as a service.
///
/// ```
/// use toolwright_toolbox::WORKER;
///
/// let names: Vec<&str> = WORKER.iter().map(|tool| tool.name()).collect();
/// assert_eq!(names, ["complete_task", "fail_task", "wait_task"]);
/// ```
pub const WORKER: [Handle; 3] = [COMPLETE_TASK, FAIL_TASK, WAIT_TASK];
