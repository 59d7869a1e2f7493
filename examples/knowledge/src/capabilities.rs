//! `capabilities_refresh` writes what the agent can do into a prompt that the agent reads before every conversation.
//!
//! It lists the tools of the application and of every MCP server, and asks the configured model to group them by theme.
//! It writes `prompts/capabilities.md` and keeps the file's front matter. The text names no tool, because tools are
//! looked up when they are called. Without a model, or if the model's answer is unusable, the file has a line for each
//! group. It refuses nothing; a failure to write is `refresh_failed`.

use std::sync::Arc;
use std::time::Duration;

use toolwright::{Catalog, Definition, Registry, ToolError, tool};
use toolwright_agent::{Agent, Model};
use toolwright_mcp::McpServers;
use toolwright_toolbox::write_file;

use crate::document::split;
use crate::library::Library;
use crate::themes::{self, Themes};

pub const PATH: &str = "prompts/capabilities.md";

const FRONT_MATTER: &str =
    "---\ntitle: Capabilities\nloading: always\nagent-modification: true\n---\n";

/// How long the model may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The most tokens of a summary.
const MAX_TOKENS: u32 = 4096;

/// The service of the tool: the registry of the described tools, and the model that groups them.
pub struct Inventory {
    pub registry: Registry,
    pub model: Option<Arc<dyn Model>>,
}

/// What was written.
#[toolwright::data]
pub struct Refreshed {
    path: String,
    /// How many tools of the application are described.
    internal_tool_count: usize,
    /// How many tools of MCP servers are described.
    mcp_tool_count: usize,
    /// Whether there was no such file.
    created_file: bool,
    /// Who made the summary, and what is missing in it.
    message: String,
}

/// Write a summary of what you can do, by theme, into the prompt that is read before every conversation.
#[tool(unlinked, group = "capabilities", danger = moderate, effect = idempotent, writes(file = PATH), timeout = none)]
pub async fn capabilities_refresh(
    library: &Library,
    inventory: &Inventory,
    servers: &McpServers,
    /// Whether the tools of MCP servers are described as well, which starts the servers.
    #[arg(default = true)]
    include_mcp: bool,
) -> Result<Refreshed, ToolError> {
    let missing = if include_mcp { register(servers).await? } else { Vec::new() };
    let catalog = inventory.registry.catalog();
    let is_shown = |it: &&Definition| include_mcp || !it.came_at_run_time;
    let shown: Vec<&Definition> = catalog.definitions().filter(is_shown).collect();
    let foreign = shown.iter().filter(|it| it.came_at_run_time).count();
    let own = shown.len() - foreign;
    let (lines, by) = match by_model(inventory.model.as_ref(), &catalog, &shown).await {
        Ok(lines) => (lines, "the summary is by the themes that the model named".to_owned()),
        Err(why) => (themes::by_group(&catalog, &shown), format!("the summary is by group: {why}")),
    };
    let message = std::iter::once(by).chain(missing).collect::<Vec<_>>().join("; ");
    let library = library.clone();
    let written = tokio::task::spawn_blocking(move || {
        let created_file = write(&library, &format!("# What you can do\n\n{lines}"))?;
        Ok(Refreshed {
            path: PATH.to_owned(),
            internal_tool_count: own,
            mcp_tool_count: foreign,
            created_file,
            message,
        })
    });
    written.await.map_err(ToolError::internal)?
}

/// Registers the tools of every server, and returns the messages about servers that cannot be described.
async fn register(servers: &McpServers) -> Result<Vec<String>, ToolError> {
    let unusable = servers.register_all().await.map_err(|error| failed(error.to_string()))?;
    let servers = unusable.servers.into_iter().map(|it| it.error.to_string());
    let tools = unusable.tools.into_iter();
    Ok(servers
        .chain(tools.map(|it| format!("`{}` of `{}` cannot be called", it.tool, it.server)))
        .collect())
}

/// Returns the lines that a model writes, or the reason why there are none.
async fn by_model(
    model: Option<&Arc<dyn Model>>,
    catalog: &Catalog,
    shown: &[&Definition],
) -> Result<String, String> {
    let model = model.ok_or("no model is configured")?;
    let agent = Agent::builder(Arc::clone(model)).max_tokens(MAX_TOKENS).build();
    let agent = agent.map_err(|error| error.to_string())?;
    let asked = tokio::time::timeout(PATIENCE, agent.extract::<Themes>(themes::question(shown)));
    let late = |_| format!("the model gave no summary in {} seconds", PATIENCE.as_secs());
    let themes =
        asked.await.map_err(late)?.map_err(|error| format!("the model failed: {error}"))?;
    themes::of_model(catalog, &themes.into_output().themes)
        .map_err(|why| format!("the summary of the model is not used, because {why}"))
}

/// Writes the summary after the front matter of the file. Returns whether the file is new.
fn write(library: &Library, summary: &str) -> Result<bool, ToolError> {
    library.alone(|| {
        let before = match library.files().exists(PATH)? {
            true => Some(library.files().read_text(PATH)?),
            false => None,
        };
        let front = match &before {
            None => FRONT_MATTER,
            Some(text) => {
                let (_, body) = split(text).map_err(|why| failed(format!("`{PATH}`: {why}")))?;
                &text[..text.len() - body.len()]
            }
        };
        write_file(library.files(), PATH.to_owned(), format!("{front}{summary}"), None)
            .map_err(|error| failed(error.message().to_owned()))?;
        Ok(before.is_none())
    })
}

fn failed(message: String) -> ToolError {
    ToolError::new("refresh_failed", message)
}
