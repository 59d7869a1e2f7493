//! `wait_task` ends the run: the task waits.
//!
//! # What it does
//! It moves the task that the run has claimed to `waiting`, in one transaction, and ends the run. The first of the tools that
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

/// Put the current task aside until something happens that you cannot bring about, such as a person's answer.
#[tool(
    unlinked,
    terminal,
    group = "task",
    danger = safe,
    effect = idempotent,
    writes(TaskId = claim.id().to_string()),
    blocking
)]
pub fn wait_task(
    claim: &ClaimedTask,
    /// What it waits for.
    #[arg(positional)]
    reason: String,
) -> Result<EndedTask, ToolError> {
    end(claim, TaskStatus::Waiting, "reason", &reason)
}
