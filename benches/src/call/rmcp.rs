//! rmcp: a `#[tool]` method through `ToolRouter`, from the text of the arguments to the text of the answer.
//!
//! The router takes parsed arguments, and a request context with a connected peer. So one idle connection is opened
//! first, and its context is cloned for each call. The cheapest path is the one that is measured: a tool that answers
//! with `ContentBlock::json`; `Json<T>` builds a `Value` as well.

use ::rmcp::handler::server::router::tool::ToolRouter;
use ::rmcp::handler::server::tool::ToolCallContext;
use ::rmcp::handler::server::wrapper::{Json, Parameters};
use ::rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject,
    NumberOrString,
};
use ::rmcp::service::{RequestContext, RoleServer, RunningService, serve_directly};
use ::rmcp::{ErrorData, ServerHandler, tool, tool_router};
use anyhow::{Context, Result, bail};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::io::DuplexStream;

use super::NAMES;
use super::floor::{self, Matches, Window};

#[derive(Deserialize, JsonSchema)]
struct FindText {
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

/// [`Matches`] with the schema that `Json<T>` needs.
#[derive(Serialize, JsonSchema)]
struct Found {
    pattern: String,
    folder: Option<String>,
    label: String,
    lines: usize,
    whole_words: bool,
}

struct Server;

#[tool_router]
impl Server {
    /// Find text in files.
    #[tool]
    async fn find_text(
        &self,
        Parameters(input): Parameters<FindText>,
    ) -> Result<CallToolResult, ErrorData> {
        let content = ContentBlock::json(found(input))?;
        Ok(CallToolResult::success(vec![content]))
    }

    /// Find text in files.
    #[tool]
    async fn find_text_structured(&self, Parameters(input): Parameters<FindText>) -> Json<Found> {
        let matches = found(input);
        Json(Found {
            pattern: matches.pattern,
            folder: matches.folder,
            label: matches.label,
            lines: matches.lines,
            whole_words: matches.whole_words,
        })
    }
}

impl ServerHandler for Server {}

fn found(input: FindText) -> Matches {
    floor::matches(input.pattern, input.limit, input.folder, input.whole_words, input.window)
}

pub struct Rmcp {
    router: ToolRouter<Server>,
    context: RequestContext<RoleServer>,
    _connection: (RunningService<RoleServer, Server>, DuplexStream),
}

impl Rmcp {
    /// Opens the idle connection; needs a tokio runtime.
    pub fn new() -> Result<Self> {
        let mut router = Server::tool_router();
        let route = router.map.get("find_text").context("no such tool")?.clone();
        for number in router.map.len()..NAMES {
            let mut other = route.clone();
            other.attr.name = format!("tool_{number}").into();
            router.add_route(other);
        }
        let (ours, theirs) = tokio::io::duplex(64);
        let service = serve_directly(Server, ours, None);
        let context = RequestContext::new(NumberOrString::Number(1), service.peer().clone());
        Ok(Self { router, context, _connection: (service, theirs) })
    }

    /// Calls the tool that answers with JSON as text.
    pub fn text(&self, text: &str) -> impl Future<Output = Result<String>> {
        self.call("find_text", text)
    }

    /// Calls the tool that answers with a structured value as well.
    pub fn structured(&self, text: &str) -> impl Future<Output = Result<String>> {
        self.call("find_text_structured", text)
    }

    async fn call(&self, name: &'static str, text: &str) -> Result<String> {
        let arguments: JsonObject = serde_json::from_str(text)?;
        let request = CallToolRequestParams::new(name).with_arguments(arguments);
        let call = ToolCallContext::new(&Server, request, self.context.clone());
        let CallToolResponse::Complete(result) = self.router.call(call).await? else {
            bail!("the call is not complete");
        };
        match result.content.into_iter().next() {
            Some(ContentBlock::Text(content)) => Ok(content.text),
            _ => bail!("the answer is not text"),
        }
    }
}
