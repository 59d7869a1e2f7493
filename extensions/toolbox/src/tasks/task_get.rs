//! `task_get` shows a task.
//!
//! # What it does
//! It answers with everything that is recorded for the task.
//!
//! # What it may touch
//! It reads the task.
//!
//! # What it refuses
//! Tasks that do not exist or were deleted.

use toolwright::{ToolError, tool};

use super::id::TaskId;
use super::store::TaskStore;
use super::task::Task;

/// Show a task with its description, status, links, metadata and result.
#[tool(unlinked, group = "task", danger = safe, effect = read, reads(TaskId = id), blocking)]
pub fn task_get(
    store: &TaskStore,
    /// Which, such as `task-1`.
    #[arg(example = "task-1", positional)]
    id: String,
) -> Result<Task, ToolError> {
    store.get(&id)
}
