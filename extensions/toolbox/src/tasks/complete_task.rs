//! `complete_task` ends the run with success.
//!
//! # What it does
//! It moves the task that the run has claimed to `completed`, in one transaction, and ends the run. Only the first tool that
//! ends a run takes effect; repeating the same call changes nothing.
//!
//! # What it may touch
//! The claimed task.
//!
//! # What it refuses
//! An empty `summary`; a task that another worker has claimed meanwhile, or that has ended in another way. The run then
//! continues.

use toolwright::{ToolError, tool};

use super::claim::ClaimedTask;
use super::end::{EndedTask, end};
use super::id::TaskId;
use super::status::TaskStatus;

/// Mark the current task as complete, with a summary of what was done and of what the tasks after it need to know.
#[tool(
    unlinked,
    terminal,
    group = "task",
    danger = safe,
    effect = idempotent,
    writes(TaskId = claim.id().to_string()),
    blocking
)]
pub fn complete_task(
    claim: &ClaimedTask,
    /// What was done.
    #[arg(positional)]
    summary: String,
) -> Result<EndedTask, ToolError> {
    end(claim, TaskStatus::Completed, "summary", &summary)
}
