//! Clients that do not read, and clients that say the same thing again and again.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationCapability,
    Implementation,
};
use rmcp::service::RequestContext;
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::{Notify, broadcast};
use toolwright::{Executor, Registry, ToolContext, ToolError, tool};
use toolwright_mcp::{ConnectedClient, McpServer, Resource, ResourceContent, Resources};

use crate::http::Served;
use crate::support::request;

#[derive(Clone, Default)]
struct Ended(Arc<Notify>);

/// Report much, and end a moment later.
#[tool(unlinked, effect = read, reads())]
async fn report(ended: &Ended, context: &ToolContext) {
    for _ in 0..10 {
        context.progress(&"x".repeat(500), None);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    ended.0.notify_one();
}

/// The time limit and the lease of a call work only as long as the call is polled.
#[tokio::test]
async fn a_call_ends_though_its_client_does_not_read_the_progress() {
    let ended = Ended::default();
    let builder = Executor::builder(Registry::of([REPORT]).unwrap()).service(ended.clone());
    let server = McpServer::new(builder.build().unwrap());
    let (ours, theirs) = tokio::io::duplex(64);
    tokio::spawn(async move {
        let (read, write) = tokio::io::split(theirs);
        server.serve(read, write).await.unwrap();
    });
    let mut ours = BufReader::new(ours);
    let mut send = async |message: Value| {
        ours.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        if message["method"] == "initialize" {
            ours.read_line(&mut String::new()).await.unwrap();
        }
    };
    send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}))
    .await;
    send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    send(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "report", "arguments": {}, "_meta": {"progressToken": 1}}}))
    .await;
    let ends = tokio::time::timeout(Duration::from_secs(20), ended.0.notified());
    ends.await.expect("the call ends");
}

/// Ask the user of the client, for a moment.
#[tool(unlinked, effect = read, reads(), timeout = "100ms")]
async fn ask(client: &ConnectedClient) -> Result<String, ToolError> {
    let schema = json!({"type": "object", "properties": {}});
    client.elicit("Well?", schema).await.map(|answer| format!("{answer:?}"))
}

/// A client whose user thinks for ever, and which notes that it no longer has to ask.
struct Thinking(Arc<Notify>);

impl ClientHandler for Thinking {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(ElicitationCapability::default());
        ClientConfig::new(capabilities, Implementation::new("thinking", "1"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        context.ct.cancelled().await;
        self.0.notify_one();
        Err(ErrorData::internal_error("it was taken back", None))
    }
}

#[tokio::test]
async fn a_question_whose_tool_is_out_of_time_is_taken_back() {
    let builder = Executor::builder(Registry::of([ASK]).unwrap()).per_run::<ConnectedClient>();
    let server = McpServer::new(builder.build().unwrap()).offer_client();
    let (ours, theirs) = tokio::io::duplex(4096);
    tokio::spawn(async move {
        let (read, write) = tokio::io::split(theirs);
        server.serve(read, write).await.unwrap();
    });
    let taken_back = Arc::new(Notify::new());
    let client = rmcp::serve_client(Thinking(Arc::clone(&taken_back)), ours).await.unwrap();
    let asked = client.peer().call_tool_once(request("ask", json!({}))).await;
    assert!(asked.is_ok(), "{asked:?}");
    let taken_back = tokio::time::timeout(Duration::from_secs(20), taken_back.notified());
    taken_back.await.expect("the question is taken back");
}

struct Library(broadcast::Sender<String>);

impl Resources for Library {
    fn list<'a>(&'a self, _: Option<&'a str>) -> BoxFuture<'a, Result<Vec<Resource>, ToolError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn changes(&self) -> Option<broadcast::Receiver<String>> {
        Some(self.0.subscribe())
    }

    fn read<'a>(
        &'a self,
        _: &'a str,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<ResourceContent>, ToolError>> {
        Box::pin(async { Ok(None) })
    }
}

/// Each notification would begin tasks that last as long as the session, or longer.
#[tokio::test]
async fn a_client_that_is_initialized_many_times_is_notified_once_and_until_its_session_ends() {
    let changes = broadcast::channel(4).0;
    let executor = Executor::builder(Registry::empty()).build().unwrap();
    let served = Served::of(McpServer::new(executor).resources(Library(changes.clone()))).await;
    let id = served.session("none").await;
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    for _ in 0..3 {
        served.post(&ready).header("mcp-session-id", &id).send().await.unwrap();
    }
    let ping = json!({"jsonrpc": "2.0", "id": 3, "method": "ping"});
    let ping = served.post(&ping).header("mcp-session-id", &id).send().await.unwrap();
    ping.text().await.unwrap();
    let until = async |receivers: usize| {
        let reached = async {
            while changes.receiver_count() != receivers {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let reached = tokio::time::timeout(Duration::from_secs(20), reached).await;
        reached.unwrap_or_else(|_| panic!("{} receivers", changes.receiver_count()));
    };
    until(1).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    client.delete(&served.url).header("mcp-session-id", &id).send().await.unwrap();
    until(0).await;
}
