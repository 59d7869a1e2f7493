//! `task_list` lists the tasks.
//!
//! # What it does
//! It answers with a line for each task: first those in progress, then those that are pending, waiting, failed and completed.
//!
//! # What it may touch
//! It reads all tasks.
//!
//! # What it refuses
//! Nothing.

use toolwright::{ToolError, tool};

use super::id::TaskId;
use super::status::TaskStatus;
use super::store::TaskStore;
use super::task::TaskSummary;

/// List all tasks with id, subject, status, owner and the tasks that still block them.
#[tool(unlinked, group = "task", danger = safe, effect = read, reads(TaskId), blocking)]
pub fn task_list(
    store: &TaskStore,
    /// Only those in this state.
    #[arg(positional)]
    status: Option<TaskStatus>,
    /// Only those that are meant for this owner.
    owner: Option<String>,
) -> Result<Vec<TaskSummary>, ToolError> {
    store.list(status, owner.as_deref())
}
