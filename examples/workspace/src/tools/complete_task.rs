//! `complete_task` ends the run. It touches nothing and refuses nothing.

use toolwright::tool;

/// What the host reads.
#[toolwright::data]
pub struct Completed {
    message: String,
    is_error: bool,
}

/// Mark the current task as complete with a summary of what was accomplished.
#[tool(group = "task", terminal, danger = safe, effect = idempotent, writes())]
pub async fn complete_task(
    /// Summary of work done
    summary: String,
) -> Completed {
    Completed { message: format!("Task completed: {summary}"), is_error: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S0.4, S0.14: a test calls the tool as the function it is.
    #[tokio::test]
    async fn the_summary_is_in_the_message() {
        let completed = complete_task("wrote the guide".into()).await;
        assert_eq!(completed.message, "Task completed: wrote the guide");
        assert!(!completed.is_error);
    }
}
