//! Demonstrates the application without a model and without a network: each step is a call as a model would make it.

use std::error::Error;
use std::fs;

use serde_json::{Value, json};
use toolwright::{Call, Executor};

use crate::library::Library;
use crate::tools::executor;

const TASK: &str = "---\nid: t1\nstatus: pending\npriority: high\n---\nWrite the report.\n";

const ORDERS: &str =
    r#"[{"item":"tea","amount":250},{"item":"honey","amount":50},{"item":"tea","amount":120}]"#;

/// Shows the steps in a temporary folder.
///
/// # Errors
/// When a step does not end as expected.
pub async fn show() -> Result<(), Box<dyn Error + Send + Sync>> {
    let folder = tempfile::tempdir()?;
    let library = Library::open(folder.path())?;
    let task = folder.path().join("tasks/report.md");
    fs::write(&task, TASK)?;
    let executor = executor(library, None)?;
    let text = "Quarterly revenue rose.\nTea sold best.\n";

    let written = json!({"path": "notes/q3.md", "content": text});
    step(&executor, "stores a note", "membot_write", &written, None).await?;
    step(
        &executor,
        "does not overwrite it unasked",
        "membot_write",
        &written,
        Some("path_conflict"),
    )
    .await?;
    let query = json!({"query": "quarterly revenue"});
    step(&executor, "finds it by its words", "membot_search", &query, None).await?;
    let orders = json!({"path": "data/orders.json", "content": ORDERS});
    step(&executor, "stores a document", "membot_write", &orders, None).await?;
    let sums = json!({"path": "data/orders.json", "expression": "${ item: $sum(amount) }"});
    step(&executor, "queries it, and reads the result alone", "membot_query", &sums, None).await?;
    let piped = json!({"tool_name": "search_grep", "tool_input": {"pattern": "report"}, "path": "data/found.txt"});
    step(&executor, "stores what a tool answers, unseen", "membot_pipe", &piped, None).await?;
    let nested = json!({"tool_name": "membot_pipe", "tool_input": {}, "path": "data/more.txt"});
    let words = "does not pipe a pipe";
    step(&executor, words, "membot_pipe", &nested, Some("forbidden_tool")).await?;
    let end =
        json!({"name": "report", "patches": [{"start_line": 5, "end_line": 5, "content": ""}]});
    step(&executor, "does not break a task", "task_edit", &end, Some("invalid_task")).await?;
    let done = json!({"name": "report", "patches": [{"start_line": 3, "end_line": 3, "content": "status: complete"}]});
    step(
        &executor,
        "does not end a task by an edit",
        "task_edit",
        &done,
        Some("status_change_forbidden"),
    )
    .await?;
    if fs::read_to_string(&task)? != TASK {
        return Err("the task is not what it was".into());
    }
    println!("the task is what it was, byte for byte");
    let body = json!({"name": "report", "patches": [{"start_line": 7, "end_line": 0, "content": "Mention the tea."}]});
    step(&executor, "edits a task", "task_edit", &body, None).await?;
    step(&executor, "writes down what it can do", "capabilities_refresh", &json!({}), None).await?;
    println!("\n{}", fs::read_to_string(folder.path().join("prompts/capabilities.md"))?);
    Ok(())
}

/// Makes a call, and prints it with its answer. Fails if the call does not end as `expected`.
async fn step(
    executor: &Executor,
    words: &str,
    tool: &str,
    input: &Value,
    expected: Option<&str>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let answer = executor.call(&Call::new(tool, input.to_string().as_str())).await;
    println!("# {words}\n{tool} {input}\n  {}", answer.text().replace('\n', "\n  "));
    let found = answer.error().map(|error| error.kind().to_owned());
    match found.as_deref() == expected {
        true => Ok(()),
        false => Err(format!("`{tool}` ended with {found:?}, expected {expected:?}").into()),
    }
}
