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
    use toolwright::{Call, Executor, Registry};

    use super::*;

    /// S0.4: a test calls the tool as the function it is.
    #[tokio::test]
    async fn the_summary_is_in_the_message() {
        let completed = complete_task("wrote the guide".into()).await;
        assert_eq!(completed.message, "Task completed: wrote the guide");
        assert!(!completed.is_error);
    }

    /// S0.14: name, description, group, input, output and end of the example tool are as named.
    #[tokio::test]
    async fn the_tool_is_the_one_that_was_asked_for() {
        let registry = Registry::of([COMPLETE_TASK]).expect("one tool");
        let definition = registry.get("complete_task").expect("registered");
        assert_eq!(
            definition.description,
            "Mark the current task as complete with a summary of what was accomplished."
        );
        assert_eq!((definition.group.as_deref(), definition.terminal), (Some("task"), true));
        let summary = &definition.input_schema["properties"]["summary"];
        assert_eq!(summary["type"], "string");
        assert_eq!(summary["description"], "Summary of work done");
        let output = definition.output_schema.as_ref().expect("it is derived");
        assert_eq!(output["properties"]["message"]["type"], "string");
        assert_eq!(output["properties"]["is_error"]["type"], "boolean");

        let executor =
            Executor::builder(registry).unrestricted().build().expect("nothing is missing");
        let answer = executor.call(&Call::new("complete_task", r#"{"summary":"wrote"}"#)).await;
        assert_eq!(answer.text(), r#"{"message":"Task completed: wrote","is_error":false}"#);
    }
}
