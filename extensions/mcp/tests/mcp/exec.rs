//! Calls of foreign tools through `mcp_exec`, which a person agrees to: what policy, schema and definition say of them.

use std::time::Duration;

use serde_json::{Value, json};
use toolwright::approval::{Callback, Response};
use toolwright::policy::{Policy, PolicyBuilder, Rule};
use toolwright::{Answer, Call, Executor, Registry};
use toolwright_mcp::McpServers;

use crate::client::configuration;

struct Application {
    executor: Executor,
    _folder: tempfile::TempDir,
}

impl Application {
    fn under(policy: PolicyBuilder) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = configuration(folder.path(), "trust = \"annotations\"");
        let servers = McpServers::new(config);
        let builder =
            Executor::builder(Registry::empty()).policy(policy.registered_later("peer__*"));
        let builder = builder.ask(Callback::new(|_| Response::Approve));
        let builder = builder.with(servers);
        let executor = builder.timeout(Some(Duration::from_secs(20))).build().unwrap();
        Self { executor, _folder: folder }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.executor.call(&Call::new(tool.to_owned(), arguments.to_string())).await
    }

    async fn exec(&self, name: &str, arguments: Value) -> Answer {
        self.call("mcp_exec", json!({"name": name, "arguments": arguments})).await
    }
}

fn kind(answer: &Answer) -> &str {
    answer.error().map_or("", |error| error.kind())
}

#[tokio::test]
async fn rules_for_a_foreign_tool_hold_for_its_first_call_too() {
    let no = Rule::deny("the tools stay as they are").tool("peer__change");
    let application = Application::under(Policy::builder().rule(no));
    let answer = application.exec("peer__change", json!({})).await;
    assert_eq!(kind(&answer), "denied");
    assert!(
        answer.text().contains("`peer__change` is not allowed here: the tools stay as they are")
    );
    let answer = application.exec("peer__echo", json!({"text": "hi"})).await;
    assert!(answer.text().contains("\nhi\n"), "{}", answer.text());
    let again = application.exec("peer__echo", json!({"text": "hi"})).await;
    assert_eq!(again.error().unwrap().next_action(), Some("call `peer__echo` itself"));
}

/// A grant may answer for `mcp_exec`, and for no call on which a person always decides.
#[tokio::test]
async fn a_call_that_always_asks_is_made_by_itself() {
    let each = Rule::always_ask("it says it aloud").tool("peer__echo");
    let application = Application::under(Policy::builder().rule(each));
    let answer = application.exec("peer__echo", json!({"text": "hi"})).await;
    assert_eq!(kind(&answer), "approval_required");
    let error = answer.error().unwrap();
    assert!(
        error.message().starts_with("a person decides on each call of `peer__echo`: "),
        "{error}"
    );
    assert!(error.message().contains("; it says it aloud"), "{error}");
    assert_eq!(error.next_action(), Some("call `peer__echo` itself"));
    let answer = application.call("peer__echo", json!({"text": "hi"})).await;
    assert!(answer.text().contains("\nhi\n"), "{}", answer.text());
}

#[tokio::test]
async fn the_input_of_a_foreign_tool_is_checked_by_its_schema() {
    let application = Application::under(Policy::builder());
    let answer = application.exec("peer__echo", json!({"txet": 7})).await;
    assert_eq!(kind(&answer), "invalid_input");
    assert!(answer.text().contains("the input of `peer__echo` is not what its schema asks for"));
}

/// What a model read, and a person agreed to, is not what would run.
#[tokio::test]
async fn a_tool_that_has_changed_since_it_was_described_does_not_run() {
    let application = Application::under(Policy::builder());
    let described = application.call("mcp_info", json!({"name": "peer__echo"})).await;
    assert!(described.text().contains("Says the text again."));
    assert!(!application.call("peer__change", json!({})).await.is_error());
    let call = || application.exec("peer__echo", json!({"text": "hi"}));
    assert_eq!(kind(&call().await), "definition_changed");
    let described = application.call("mcp_info", json!({"name": "peer__echo"})).await;
    assert!(described.text().contains("Sends the text to everybody."));
    let answer = call().await;
    assert!(answer.text().contains("\nhi\n"), "{}", answer.text());
}
