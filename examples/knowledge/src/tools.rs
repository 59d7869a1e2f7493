//! The tools, and the names under which a model and the command line call them.

mod edits;

use std::error::Error;
use std::sync::Arc;

use toolwright::{Executor, ExecutorBuilder, Registration, Registry, RegistryError};
use toolwright_agent::{Agent, Model};
use toolwright_mcp::{McpConfig, McpServers};
use toolwright_toolbox::{CONTEXT, GREP};

use crate::capabilities::{CAPABILITIES_REFRESH, Inventory};
use crate::chat::SlashCommand;
use crate::library::Library;

pub use edits::{PROMPT_EDIT, SCHEDULE_EDIT, SKILL_EDIT, TASK_EDIT};

/// The file in a library that lists the MCP servers.
const SERVERS: &str = "mcp.toml";

/// Returns a registry of every tool. The tools of the store are called `membot_…`, as in the documentation.
///
/// # Errors
/// When two tools have the same name, which is a defect of this application.
pub fn registry() -> Result<Registry, RegistryError> {
    let store = CONTEXT.into_iter().map(|tool| {
        let name = tool.name().replacen("context_", "membot_", 1);
        tool.renamed(name).grouped("membot")
    });
    let edits = [SKILL_EDIT, SCHEDULE_EDIT, TASK_EDIT, PROMPT_EDIT].map(Registration::from);
    let capabilities =
        CAPABILITIES_REFRESH.with(SlashCommand { name: "capabilities", input: "{}" });
    let grep = GREP.renamed("search_grep").grouped("search");
    Registry::of(store.chain(edits).chain([capabilities, grep]))
}

/// Builds the executor for a person who types commands; their calls run without approval. The model, if there is one,
/// finds the themes for `capabilities_refresh`.
///
/// # Errors
/// When a tool lacks a service, or `mcp.toml` cannot be read.
pub fn executor(
    library: Library,
    model: Option<Arc<dyn Model>>,
) -> Result<Executor, Box<dyn Error + Send + Sync>> {
    Ok(builder(library, model)?.unrestricted().build()?)
}

/// Returns the builder of an executor over a library. By default, calls that are not safe need approval.
///
/// # Errors
/// When `mcp.toml` cannot be read.
pub fn builder(
    library: Library,
    model: Option<Arc<dyn Model>>,
) -> Result<ExecutorBuilder, Box<dyn Error + Send + Sync>> {
    let registry = registry()?;
    let file = library.files().root().join(SERVERS);
    let config = if file.exists() { McpConfig::read(file)? } else { McpConfig::default() };
    let inventory = Inventory { registry: registry.clone(), model };
    let builder = Executor::builder(registry).with(McpServers::new(config)).service(inventory);
    let builder = builder.service(library.store().clone()).service_arc(library.files().clone());
    Ok(builder.service(library))
}

/// Builds the agent of a library. Its system prompt consists of the prompts that are always loaded, which are read when
/// a conversation begins.
///
/// # Errors
/// When the model does not accept the tools.
pub fn agent(
    executor: &Executor,
    model: Arc<dyn Model>,
) -> Result<Agent, Box<dyn Error + Send + Sync>> {
    Ok(Agent::on(executor.clone(), model).instructions(Library::instructions).build()?)
}
