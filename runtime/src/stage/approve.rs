//! Refuses what a person would have to allow, as long as nobody can be asked.

use crate::error::{Class, ToolError};
use crate::footprint::Facts;

#[inline]
pub(crate) fn approve(tool: &str, facts: &Facts) -> Result<(), ToolError> {
    match &facts.approval {
        None => Ok(()),
        Some(reason) => Err(refused(tool, reason)),
    }
}

#[cold]
fn refused(tool: &str, reason: &str) -> ToolError {
    ToolError::new(
        "approval_required",
        format!("`{tool}` needs a person's approval ({reason}), and nobody can be asked here"),
    )
    .class(Class::NotStarted { retry_after: None })
    .hint("go on without this call, or tell the user that it needs approval")
}
