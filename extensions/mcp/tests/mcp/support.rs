//! A client of another library, which speaks to a server over a stream in memory.

use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientConfig, JsonObject,
    ProgressNotificationParam,
};
use rmcp::service::{NotificationContext, RunningService};
use rmcp::{ClientHandler, RoleClient, ServiceError};
use serde_json::Value;
use tokio::sync::Notify;
use toolwright_mcp::McpServer;

/// What a client has heard.
#[derive(Debug, Default)]
pub struct Heard {
    pub progress: Mutex<Vec<ProgressNotificationParam>>,
    pub list_changed: Notify,
}

#[derive(Debug, Clone, Default)]
pub struct Client(pub Arc<Heard>);

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::default()
    }

    async fn on_progress(&self, it: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.0.progress.lock().unwrap().push(it);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.list_changed.notify_one();
    }
}

pub type Session = RunningService<RoleClient, Client>;

/// A client of this server, and the task that serves it.
pub async fn session(server: McpServer) -> (Session, tokio::task::JoinHandle<()>) {
    let (ours, theirs) = tokio::io::duplex(4096);
    let serving = tokio::spawn(async move {
        let (read, write) = tokio::io::split(theirs);
        server.serve(read, write).await.unwrap();
    });
    let client = rmcp::serve_client(Client::default(), ours).await.unwrap();
    (client, serving)
}

pub fn request(tool: &str, arguments: Value) -> CallToolRequestParams {
    let arguments: JsonObject = serde_json::from_value(arguments).unwrap();
    CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)
}

pub async fn call(
    session: &Session,
    tool: &str,
    arguments: Value,
) -> Result<CallToolResult, ServiceError> {
    match session.peer().call_tool_once(request(tool, arguments)).await? {
        CallToolResponse::Complete(result) => Ok(result),
        other => panic!("{other:?}"),
    }
}

/// What a model reads of a result.
pub fn text(result: &CallToolResult) -> String {
    let texts = result.content.iter().map(|block| block.as_text().expect("text").text.clone());
    texts.collect::<Vec<_>>().join("\n")
}

/// What a model reads of an error.
pub fn error(result: &CallToolResult) -> Value {
    assert_eq!(result.is_error, Some(true), "{result:?}");
    serde_json::from_str(&text(result)).unwrap()
}
