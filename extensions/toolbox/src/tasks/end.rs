//! The code that all tools which end a run share. It moves the claimed task and makes the answer.

use toolwright::{ErrorClass, ToolError};

use super::claim::ClaimedTask;
use super::status::TaskStatus;

/// The task that a run has ended.
#[toolwright::data]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndedTask {
    /// Its id, such as `task-1`.
    pub id: String,
    /// The state that it has now.
    pub status: TaskStatus,
}

/// Moves the task to another state, with a text that says why.
pub(super) fn end(
    claim: &ClaimedTask,
    to: TaskStatus,
    parameter: &str,
    words: &str,
) -> Result<EndedTask, ToolError> {
    if words.trim().is_empty() {
        return Err(ToolError::invalid(format!("`{parameter}` is empty, expected a sentence"))
            .class(ErrorClass::Invalid));
    }
    claim.finish(to, words)?;
    Ok(EndedTask { id: claim.id().to_string(), status: to })
}
