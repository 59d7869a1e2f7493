//! rmcp: the tools of a `ToolRouter` as `list_all` gives them, written under Anthropic's keys.
//!
//! An MCP server does not talk to a model, so this is no measure; it is for programs that do both.

use ::rmcp::handler::server::router::tool::ToolRouter;
use ::rmcp::handler::server::wrapper::Parameters;
use ::rmcp::{tool, tool_router};
use anyhow::{Context, Result};

use super::{AnthropicTool, TOOLS, write_request};
use crate::thousand::{self, FindText};

struct Server;

#[tool_router]
impl Server {
    /// Finds lines in files.
    #[tool]
    async fn find_text(&self, Parameters(input): Parameters<FindText>) -> String {
        drop(input);
        String::new()
    }
}

pub struct Rmcp {
    router: ToolRouter<Server>,
}

impl Rmcp {
    pub fn new() -> Result<Self> {
        let route = Server::tool_router().map.get("find_text").context("no such tool")?.clone();
        let mut router = ToolRouter::new();
        for name in thousand::names(TOOLS) {
            let mut named = route.clone();
            named.attr.name = name.into();
            router.add_route(named);
        }
        Ok(Self { router })
    }

    pub fn write(&self, buffer: &mut Vec<u8>) -> Result<()> {
        let listed = self.router.list_all();
        let tools: Vec<_> = listed
            .iter()
            .map(|tool| AnthropicTool {
                name: &tool.name,
                description: tool.description.as_deref().unwrap_or_default(),
                input_schema: &*tool.input_schema,
            })
            .collect();
        write_request(tools, buffer)
    }
}
