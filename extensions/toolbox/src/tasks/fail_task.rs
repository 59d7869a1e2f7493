//! `fail_task` ends the run with a failure.
//!
//! # What it does
//! It moves the task that the run has claimed to `failed`, in one transaction, and ends the run. Only the first tool that ends
//! a run takes effect; repeating the same call changes nothing.
//!
//! # What it may touch
//! The claimed task.
//!
//! # What it refuses
//! An empty `reason`; a task that another worker has claimed meanwhile, or that has ended in another way. The run then
//! continues.

use toolwright::{ToolError, tool};

use super::claim::ClaimedTask;
use super::end::{EndedTask, end};
use super::id::TaskId;
use super::status::TaskStatus;

/// Mark the current task as failed, with the reason why it cannot be done.
#[tool(
    unlinked,
    terminal,
    group = "task",
    danger = safe,
    effect = idempotent,
    writes(TaskId = claim.id().to_string()),
    blocking
)]
pub fn fail_task(
    claim: &ClaimedTask,
    /// Why it cannot be done.
    #[arg(positional)]
    reason: String,
) -> Result<EndedTask, ToolError> {
    end(claim, TaskStatus::Failed, "reason", &reason)
}
