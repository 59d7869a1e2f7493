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

    /// Calls a tool as `mcp_info` describes it now.
    async fn exec(&self, name: &str, arguments: Value) -> Answer {
        let definition = self.described(name).await;
        self.exec_as(name, &definition, arguments).await
    }

    async fn exec_as(&self, name: &str, definition: &str, arguments: Value) -> Answer {
        let call = json!({"name": name, "definition": definition, "arguments": arguments});
        self.call("mcp_exec", call).await
    }

    /// The digits of the definition that `mcp_info` shows.
    async fn described(&self, name: &str) -> String {
        let info = self.call("mcp_info", json!({"name": name})).await.text().into_owned();
        let first = info.lines().next().unwrap();
        first.split_once(", definition ").unwrap().1.to_owned()
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

/// What a model read, and a person agreed to, is not what would run: what was read is part of the call, so that it counts in
/// each run for itself, and after a restart.
#[tokio::test]
async fn a_tool_that_has_changed_since_it_was_described_does_not_run() {
    let application = Application::under(Policy::builder());
    let before = application.described("peer__echo").await;
    assert!(!application.call("peer__change", json!({})).await.is_error());
    let now = application.described("peer__echo").await;
    let call = async |definition: &str| {
        application.exec_as("peer__echo", definition, json!({"text": "hi"})).await
    };
    let refused = call(&before).await;
    assert_eq!(kind(&refused), "definition_changed");
    assert!(refused.text().contains(&now), "{}", refused.text());
    assert!(call(&now).await.text().contains("\nhi\n"));
}

/// Rules and grants for `mcp_exec` are for what is as dangerous as it says.
#[tokio::test]
async fn a_tool_that_is_more_dangerous_than_mcp_exec_is_called_by_itself() {
    let application = Application::under(Policy::builder());
    let refused = application.exec("peer__meta", json!({})).await;
    assert_eq!(kind(&refused), "approval_required");
    assert!(refused.text().contains("`peer__meta` is dangerous"), "{}", refused.text());
    assert_eq!(refused.error().unwrap().next_action(), Some("call `peer__meta` itself"));
}

/// The tool that is unknown is the one in the input of `mcp_info`, which the model has to be shown.
#[tokio::test]
async fn a_gateway_answers_a_search_for_an_unknown_tool_with_a_hint_and_no_error_of_the_protocol() {
    let application = Application::under(Policy::builder());
    let server = toolwright_mcp::McpServer::new(application.executor.clone());
    let (client, _serving) = crate::support::session(server).await;
    let input = json!({"name": "peer__nothing"});
    let answer = crate::support::call(&client, "mcp_info", input).await.unwrap();
    let error = crate::support::error(&answer);
    assert_eq!(error["next_action_hint"], "list or search the tools", "{error}");
}
