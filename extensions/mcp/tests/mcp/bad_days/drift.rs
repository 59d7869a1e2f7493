//! A server that changes its tools while its process and the application's go on: what the person who is asked is shown.

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use toolwright::approval::{Callback, Response};
use toolwright::{Answer, Call, Executor, Registry};
use toolwright_mcp::McpServers;

use crate::client::{configuration, kind};

/// An application with one process of the server. It remembers definitions only as long as it lives, and a person agrees to
/// every call.
struct Application {
    servers: McpServers,
    executor: Executor,
    folder: tempfile::TempDir,
    /// What the person was shown.
    previews: Receiver<String>,
}

impl Application {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (sender, previews) = channel();
        let builder = Executor::builder(Registry::empty()).unrestricted();
        let builder = builder.ask(Callback::new(move |request| {
            sender.send(request.preview.clone().unwrap_or_default()).unwrap();
            Response::Approve
        }));
        let servers = McpServers::new(configuration(folder.path(), ""));
        let builder = builder.with(servers.clone());
        let executor = builder.timeout(Some(Duration::from_secs(20))).build().unwrap();
        Self { servers, executor, folder, previews }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.executor.call(&Call::new(tool.to_owned(), arguments.to_string())).await
    }

    /// Calls `echo`, and returns the kind of the error with what the person was shown of the call.
    async fn echo(&self) -> (String, String) {
        let answer = self.call("peer__echo", json!({"text": "hi"})).await;
        (kind(&answer).to_owned(), self.previews.recv().unwrap())
    }

    /// Changes the tools by this call, and calls `echo` as it was before.
    async fn drifts(&self, by: &str) {
        assert!(!self.call(by, json!({})).await.is_error());
        self.previews.recv().unwrap();
        if by == "peer__drift" {
            // A list counts for half a minute where the server says nothing.
            tokio::time::pause();
            tokio::time::advance(Duration::from_secs(31)).await;
            tokio::time::resume();
        }
        assert_eq!(self.echo().await.0, "definition_changed");
    }

    fn starts(&self) -> usize {
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap();
        log.lines().filter(|line| line.starts_with("started")).count()
    }
}

/// The server says that its tools have changed, or says nothing.
#[tokio::test]
async fn a_drift_without_a_restart_is_shown_to_who_is_asked_about_the_next_call() {
    for by in ["peer__change", "peer__drift"] {
        let application = Application::new();
        let (error, preview) = application.echo().await;
        assert_eq!((&*error, preview.contains("has changed")), ("", false), "{preview}");
        application.drifts(by).await;
        let (error, preview) = application.echo().await;
        assert_eq!(error, "");
        let shown = "`peer__echo` has changed since it last ran\n\
                     description before: Says the text again.\n\
                     description now: Sends the text to everybody.\n\
                     calls `peer__echo` with ";
        assert!(preview.starts_with(shown), "{by}: {preview}");
        // It has run as it is now.
        assert!(!application.echo().await.1.contains("has changed"), "{by}");
        assert_eq!(application.starts(), 1);
    }
}

#[tokio::test]
async fn a_schema_that_asks_for_more_is_shown_beside_the_one_before() {
    let application = Application::new();
    assert_eq!(application.echo().await.0, "");
    // Only the schema changes: the description is already the changed one when `echo` runs again.
    application.drifts("peer__change").await;
    assert_eq!(application.echo().await.0, "");
    std::fs::write(application.folder.path().join("asks_more"), "").unwrap();
    application.drifts("peer__change").await;
    let (error, preview) = application.echo().await;
    assert_eq!(error, "");
    let lines: Vec<&str> = preview.lines().collect();
    let [head, before, now, call] = lines[..] else { panic!("{preview}") };
    assert_eq!(head, "`peer__echo` has changed since it last ran");
    let schema = |line: &str, when: &str| -> Value {
        let text = line.strip_prefix(&format!("input schema {when}: ")).expect(line);
        serde_json::from_str(text).unwrap()
    };
    let (before, now) = (schema(before, "before"), schema(now, "now"));
    assert_eq!(before["properties"], json!({"text": {"type": "string"}}));
    assert_eq!(now["properties"]["password"], json!({"type": "string"}));
    assert!(call.starts_with("calls `peer__echo` with "), "{call}");
}

/// A server that exits after its list would otherwise hide the change from the person who approves the call.
#[tokio::test]
async fn a_change_is_shown_though_the_server_does_not_run_when_the_person_is_asked() {
    for is_found_by_model in [false, true] {
        let application = Application::new();
        assert_eq!(application.echo().await.0, "");
        application.drifts("peer__change").await;
        let definition = match is_found_by_model {
            true => {
                let info = application.call("mcp_info", json!({"name": "peer__echo"})).await;
                let first = info.text().lines().next().unwrap().to_owned();
                Some(first.split_once(", definition ").unwrap().1.to_owned())
            }
            false => {
                application.servers.register_all().await.unwrap();
                None
            }
        };
        application.servers.close().await;
        let preview = match definition {
            Some(definition) => {
                let call = json!({"name": "peer__echo", "definition": definition, "arguments": {"text": "hi"}});
                assert!(!application.call("mcp_exec", call).await.is_error());
                application.previews.recv().unwrap()
            }
            None => application.echo().await.1,
        };
        assert!(preview.starts_with("`peer__echo` has changed since it last ran\n"), "{preview}");
        assert!(preview.contains("now: Sends the text to everybody."), "{preview}");
    }
}
