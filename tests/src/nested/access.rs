//! What a child reads and writes is what its parent declares.

use toolwright::{Call, Calls, ToolError, tool};

use super::RELAY;
use crate::support::{Log, builder, kind};

/// Replaces a file.
#[tool(effect = idempotent, writes(file = path))]
async fn replace(
    log: &Log,
    /// Which.
    path: String,
) {
    log.add(path);
}

/// Reads a file.
#[tool(effect = read, reads(file = path))]
async fn peruse(
    log: &Log,
    /// Which.
    path: String,
) {
    log.add(path);
}

/// Does what it is told to one file.
#[tool(effect = idempotent, writes(file = "src"))]
async fn edit(
    calls: &Calls,
    /// By which tool.
    tool: String,
    /// Which file.
    path: String,
) -> Result<(), ToolError> {
    let arguments = serde_json::json!({"path": path}).to_string();
    let answer = calls.call(&Call::new(tool, arguments)).await;
    answer.error().map_or(Ok(()), |error| Err(error.with_more(None)))
}

/// Looks at whatever it likes.
#[tool(effect = read)]
async fn survey(
    calls: &Calls,
    /// By which tool.
    tool: String,
) -> Result<(), ToolError> {
    let answer = calls.call(&Call::new(tool, r#"{"path":"src/lib.rs"}"#)).await;
    answer.error().map_or(Ok(()), |error| Err(error.with_more(None)))
}

async fn edited(tool: &str, path: &str) -> (String, Vec<String>) {
    let log = Log::default();
    let tools = [REPLACE, PERUSE, EDIT, SURVEY, RELAY];
    let executor = builder(tools).service(log.clone()).build().unwrap();
    let arguments = serde_json::json!({"tool": tool, "path": path}).to_string();
    let answer = executor.call(&Call::new("edit", arguments)).await;
    (kind(&answer), log.lines())
}

#[tokio::test]
async fn a_child_inside_of_what_its_parent_writes_may_read_and_write_it() {
    for tool in ["replace", "peruse"] {
        assert_eq!(edited(tool, "src/a.rs").await, ("ok".into(), vec!["src/a.rs".into()]));
    }
}

#[tokio::test]
async fn a_child_outside_of_what_its_parent_declares_does_not_run() {
    for tool in ["replace", "peruse"] {
        assert_eq!(edited(tool, "docs/a.md").await, ("undeclared_access".into(), vec![]));
    }
    // These paths leave the folder, or do not show where they lead.
    for path in ["/etc/passwd", "../docs/a.md", "src/../../src/a.rs", "/src/a.rs"] {
        assert_eq!(edited("replace", path).await, ("undeclared_access".into(), vec![]), "{path}");
    }
    // It says nothing, so it may touch everything.
    assert_eq!(edited("relay", "src/a.rs").await.0, "invalid_input");
}

#[tokio::test]
async fn the_refusal_names_child_parent_and_resource() {
    let log = Log::default();
    let executor = builder([REPLACE, EDIT]).service(log).build().unwrap();
    let arguments = r#"{"tool":"replace","path":"docs/a.md"}"#;
    let answer = executor.call(&Call::new("edit", arguments)).await;
    assert_eq!(
        answer.error().unwrap().message(),
        "`replace` writes file `docs/a.md`, and `edit`, which calls it, does not declare that"
    );
}

#[tokio::test]
async fn a_parent_that_reads_and_says_no_more_may_read_everything_and_write_nothing() {
    for (tool, expected) in [("peruse", "ok"), ("replace", "undeclared_access")] {
        let log = Log::default();
        let executor = builder([REPLACE, PERUSE, SURVEY]).service(log).build().unwrap();
        let arguments = serde_json::json!({"tool": tool}).to_string();
        let answer = executor.call(&Call::new("survey", arguments)).await;
        assert_eq!(kind(&answer), expected, "{tool}");
    }
}
