//! `task_create` adds a task to the list.
//!
//! # What it does
//! It adds a pending task, and links it to the tasks that it waits for. If a call is repeated with the same idempotency key, no
//! second task is added.
//!
//! # What it may touch
//! The task list: the new task, and the links of its blockers.
//!
//! # What it refuses
//! A subject that is not a short line; blockers that do not exist.

use toolwright::{ToolContext, ToolError, tool};

use super::id::TaskId;
use super::store::{NewTask, TaskStore};
use super::task::Task;

/// Create a task in the task list. It is `pending` until a worker claims it or `task_update` moves it.
#[tool(
    unlinked,
    group = "task",
    danger = safe,
    effect = keyed,
    writes(TaskId = touched(&subject, &blocked_by)),
    blocking
)]
pub fn task_create(
    store: &TaskStore,
    context: &ToolContext,
    /// What it is about, in a few words.
    #[arg(example = "Repair the parser", positional)]
    subject: String,
    /// What is to be done, and how it is known to be done.
    #[arg(positional)]
    description: String,
    /// Who it is meant for; any worker when absent.
    owner: Option<String>,
    /// The tasks that have to be completed before it, such as `task-1`.
    #[arg(default)]
    blocked_by: Vec<String>,
) -> Result<Task, ToolError> {
    let mut task = NewTask::new(subject, description).key(context.idempotency_key());
    task = blocked_by.into_iter().fold(task, NewTask::blocked_by);
    store.create(&owner.into_iter().fold(task, NewTask::owner))
}

/// Returns the tasks that the call writes, for its footprint. The id of the new task is not known yet, so its subject
/// replaces the id. A call that lists all tasks conflicts with that name; a call that creates a task with another
/// subject does not. The blockers are included, because their lists of blocked tasks change.
fn touched(subject: &str, blocked_by: &[String]) -> Vec<String> {
    std::iter::once(format!("new: {subject}")).chain(blocked_by.iter().cloned()).collect()
}
