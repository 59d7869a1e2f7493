//! Two servers of the same tools, behind streams in memory: one of the executor, one of rmcp's macros.

use ::rmcp::handler::server::router::tool::ToolRouter;
use ::rmcp::handler::server::wrapper::Parameters;
use ::rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock};
use ::rmcp::service::{RoleClient, RunningService};
use ::rmcp::{ErrorData, ServerHandler, tool, tool_handler, tool_router};
use anyhow::{Context, Result, bail};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::DuplexStream;
use toolwright::{Executor, Registry};
use toolwright_mcp::McpServer;

use super::TOOLS;
use super::lines::Lines;
use crate::call::floor::{self, Window};
use crate::thousand;

/// How many bytes a stream in memory holds.
const BUFFER: usize = 64 * 1024;

mod ours {
    use toolwright::tool;

    use super::{Window, floor};

    /// Finds lines in files.
    #[tool(group = "mcp", effect = read)]
    pub async fn find_text(
        /// What to look for.
        pattern: String,
        /// How many matches to return.
        limit: usize,
        /// The folder to search; all when absent.
        folder: Option<String>,
        /// Match whole words only.
        whole_words: bool,
        /// How much to show around a match.
        window: Window,
    ) -> floor::Matches {
        floor::matches(pattern, limit, folder, whole_words, window)
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct FindText {
    /// What to look for.
    pattern: String,
    /// How many matches to return.
    limit: usize,
    /// The folder to search; all when absent.
    folder: Option<String>,
    /// Match whole words only.
    whole_words: bool,
    /// How much to show around a match.
    window: Window,
}

/// rmcp's server of one tool.
#[derive(Clone)]
pub struct Theirs {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Theirs {
    pub fn new() -> Self {
        Self { tool_router: Self::tool_router() }
    }

    /// Finds lines in files.
    #[tool(annotations(read_only_hint = true))]
    async fn find_text(
        &self,
        Parameters(input): Parameters<FindText>,
    ) -> Result<CallToolResult, ErrorData> {
        let FindText { pattern, limit, folder, whole_words, window } = input;
        let found = floor::matches(pattern, limit, folder, whole_words, window);
        Ok(CallToolResult::success(vec![ContentBlock::json(found)?]))
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Theirs {}

/// rmcp's client of a server.
pub struct Caller(RunningService<RoleClient, ()>);

impl Caller {
    pub async fn call(&self, text: &str) -> Result<String> {
        call(&self.0, text).await
    }
}

/// Calls the tool by rmcp's client, and returns the text of the answer.
pub async fn call(client: &RunningService<RoleClient, ()>, text: &str) -> Result<String> {
    let arguments = serde_json::from_str(text)?;
    let request = CallToolRequestParams::new("find_text").with_arguments(arguments);
    match client.call_tool(request).await?.content.into_iter().next() {
        Some(ContentBlock::Text(content)) => Ok(content.text),
        _ => bail!("the answer is not text"),
    }
}

/// Returns our server of one tool.
pub fn ours() -> Result<McpServer> {
    let executor = Executor::builder(Registry::of([ours::FIND_TEXT])?).unrestricted().build()?;
    Ok(McpServer::new(executor))
}

fn serve_ours(registry: Registry, stream: DuplexStream) -> Result<()> {
    let executor = Executor::builder(registry).unrestricted().build()?;
    let (read, write) = tokio::io::split(stream);
    tokio::spawn(McpServer::new(executor).serve(read, write));
    Ok(())
}

fn serve_theirs(server: Theirs, stream: DuplexStream) {
    tokio::spawn(async move {
        if let Ok(running) = ::rmcp::serve_server(server, stream).await {
            let _ = running.waiting().await;
        }
    });
}

/// Returns clients of our server and of rmcp's.
pub async fn callers() -> Result<(Caller, Caller)> {
    let (ours, stream) = tokio::io::duplex(BUFFER);
    serve_ours(Registry::of([ours::FIND_TEXT])?, stream)?;
    let (theirs, stream) = tokio::io::duplex(BUFFER);
    serve_theirs(Theirs::new(), stream);
    let ours = Caller(::rmcp::serve_client((), ours).await?);
    Ok((ours, Caller(::rmcp::serve_client((), theirs).await?)))
}

/// Returns readers of the lists of our server and of rmcp's, each with 1,000 tools.
pub async fn listers() -> Result<(Lines, Lines)> {
    let (ours, stream) = tokio::io::duplex(BUFFER);
    serve_ours(Registry::of(thousand::handles(TOOLS))?, stream)?;
    let (theirs, stream) = tokio::io::duplex(BUFFER);
    let mut server = Theirs::new();
    let route = server.tool_router.map.get("find_text").context("no such tool")?.clone();
    server.tool_router = ToolRouter::new();
    for name in thousand::names(TOOLS) {
        let mut named = route.clone();
        named.attr.name = name.into();
        server.tool_router.add_route(named);
    }
    serve_theirs(server, stream);
    Ok((Lines::begin(ours).await?, Lines::begin(theirs).await?))
}
