//! `fail_task` ends the run: the task cannot be done.
//!
//! # What it does
//! It moves the task that the run has claimed to `failed`, in one transaction, and ends the run. The first of the tools that
//! end a run counts; the same call once more changes nothing.
//!
//! # What it may touch
//! The claimed task.
//!
//! # What it refuses
//! An empty `reason`; a task that another worker has meanwhile, or that has ended otherwise. The run goes on then.

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
