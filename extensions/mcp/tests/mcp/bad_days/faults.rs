//! Servers that send too much, too little at a time, or without end.

use std::fs::File;
use std::time::Duration;

use serde_json::json;
use toolwright::{Call, ErrorClass, Executor, Registry};
use toolwright_mcp::McpServers;

use crate::client::configuration;

fn using(folder: &tempfile::TempDir) -> (McpServers, Executor) {
    let config = configuration(folder.path(), "trust = \"annotations\"");
    let servers = McpServers::new(config);
    let builder =
        Executor::builder(Registry::empty()).unrestricted().timeout(Some(Duration::from_secs(60)));
    let executor = builder.with(servers.clone()).build().unwrap();
    (servers, executor)
}

async fn text(executor: &Executor, tool: &str, arguments: serde_json::Value) -> String {
    executor.call(&Call::new(tool.to_owned(), arguments.to_string())).await.text().into_owned()
}

/// The answer is dropped while it comes: it never stands in memory as a whole, its call ends, and what comes later is heard.
#[tokio::test]
async fn an_answer_of_40_megabytes_ends_its_call_by_its_cause_and_the_next_one_is_heard() {
    let folder = tempfile::tempdir().unwrap();
    let (servers, executor) = using(&folder);
    let flooded = executor.call(&Call::new("peer__flood", "{}")).await;
    let error = flooded.error().unwrap();
    assert_eq!((error.kind(), error.classified()), ("answer_not_taken", ErrorClass::Unknown));
    assert!(error.message().ends_with("it is longer than 16 MiB"), "{error}");
    let echoed = text(&executor, "peer__echo", json!({"text": "still here"})).await;
    assert!(echoed.contains("still here"), "{echoed}");
    servers.close().await;
}

#[tokio::test]
async fn an_answer_of_10_megabytes_is_given_on() {
    let folder = tempfile::tempdir().unwrap();
    let (servers, executor) = using(&folder);
    let large = executor.call(&Call::new("peer__large", "{}")).await;
    assert!(!large.is_error() && large.text().len() > 10 << 20, "{} bytes", large.text().len());
    servers.close().await;
}

/// A server waits for its standard error to be read, where that is full.
#[tokio::test]
async fn a_server_that_writes_16_megabytes_to_its_standard_error_is_used() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("shouts"), "16").unwrap();
    let (servers, executor) = using(&folder);
    let echoed = text(&executor, "peer__echo", json!({"text": "hi"})).await;
    assert!(echoed.contains("\nhi\n"), "{echoed}");
    servers.close().await;
}

#[tokio::test]
async fn a_server_of_a_revision_that_is_not_known_is_refused() {
    for revision in ["1999-01-01", "2099-01-01", "\u{1b}[2J"] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("revision"), revision).unwrap();
        let (servers, executor) = using(&folder);
        let refused = executor.call(&Call::new("peer__echo", r#"{"text":"hi"}"#)).await;
        let refused = refused.error().unwrap().to_string();
        assert!(refused.contains("the MCP server `peer` cannot be used"), "{refused}");
        // A later revision is refused by the library, which expects no beginning of it.
        let is_named = refused.contains("it speaks the revision `") || revision.starts_with("2099");
        assert!(is_named, "{refused}");
        assert!(!refused.contains('\u{1b}'), "{refused}");
        servers.close().await;
    }
}

#[tokio::test]
async fn an_answer_that_comes_byte_by_byte_is_one_answer() {
    let folder = tempfile::tempdir().unwrap();
    let (servers, executor) = using(&folder);
    let answered = text(&executor, "peer__crumbs", json!({})).await;
    assert!(answered.contains("\nä crumb\n"), "{answered}");
    servers.close().await;
}

#[tokio::test]
async fn ten_thousand_tools_are_found_by_search_and_listed_in_part() {
    let folder = tempfile::tempdir().unwrap();
    File::create(folder.path().join("many")).unwrap();
    let (servers, executor) = using(&folder);
    let found = text(&executor, "mcp_search", json!({"query": "tool_9876"})).await;
    assert!(found.contains("peer__tool_9876: Is one of many."), "{found}");
    let listed = text(&executor, "mcp_list_tools", json!({})).await;
    assert!(listed.contains("and 9800 more; search for them"), "{listed}");
    servers.close().await;
}

#[tokio::test]
async fn a_list_of_tools_without_end_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    File::create(folder.path().join("endless")).unwrap();
    let (servers, executor) = using(&folder);
    let listed = text(&executor, "mcp_list_tools", json!({})).await;
    assert!(listed.contains("its list of tools has no end"), "{listed}");
    servers.close().await;
}
