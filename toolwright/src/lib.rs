//! Agents in Rust whose tool calls are safe to run. An annotated async function is a tool of a language-model agent, a command
//! of a command line, a tool of an MCP server, and still a function.
//!
//! ```no_run
//! use toolwright::{Agent, tool};
//!
//! /// Look up what an article costs, in cents.
//! #[tool(effect = read)]
//! async fn price_of(
//!     /// The article, such as `tea`.
//!     article: String,
//! ) -> Option<u32> {
//!     (article == "tea").then_some(450)
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let agent = Agent::builder("anthropic:claude-sonnet-4-6")
//!         .instructions("You run a small shop.")
//!         .tools([PRICE_OF])
//!         .build()?;
//!     println!("{}", agent.run("What does tea cost?").await?);
//!     Ok(())
//! }
//! ```
//!
//! - [`#[tool]`](macro@tool) makes a tool of a function: its definition, its JSON Schema, its registration, its command.
//! - [`Agent`] asks a model which tool call comes next and runs it, until the task is done. By default, it asks a
//!   person before any call that is not known to be safe (human in the loop).
//! - [`Executor`] runs [`Call`]s without an agent and gives each exactly one [`Answer`].
//! - A [`Bundle`] brings tools with everything that belongs to them: `toolbox::CodingTools`, `mcp::McpClient`,
//!   `openapi::OpenApi`, one of your own.
//!
//! # Features
//!
//! | feature | brings |
//! | --- | --- |
//! | `executor` (default) | what runs calls: registry, policy, journal, approval, messages of providers |
//! | `agent` | agents, and models over HTTPS by name |
//! | `skills` | skills as a plugin of agents, from folders with a `SKILL.md` |
//! | `cli` | the command line of an application; the approver at the terminal |
//! | `mcp` | the Model Context Protocol, as server and as client |
//! | `middleware` | reservations of resources, and a cache of reads, for agents of one process |
//! | `openapi` | the operations of an HTTP API as tools, by its OpenAPI document |
//! | `toolbox` | ready-made tools: files, programs, rated command lines, undo |
//! | `container` | programs and files in a container |
//! | `context` | a store of texts that are too large for a conversation |
//! | `web` | pages of the web by permission, and search |
//! | `tasks` | a list of tasks for agents and workers |
//! | `sqlite` | a journal in a file: durable execution, across crashes |
//! | `testing` | models that follow a script or a recording |
//! | `opentelemetry` | metrics |
//! | `chrono`, `jiff`, `url`, `uuid` | types of these crates as input and output |
//! | `reqwest`, `rusqlite` | errors of these crates as errors of tools |
//! | `conformance` | the tests for a store of one's own |
//!
//! A library of tools depends on this crate with `default-features = false`.
#![warn(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "agent")]
#[cfg_attr(docsrs, doc(cfg(feature = "agent")))]
pub mod agent;
#[cfg(feature = "cli")]
#[cfg_attr(docsrs, doc(cfg(feature = "cli")))]
pub mod cli;
#[cfg(feature = "mcp")]
#[cfg_attr(docsrs, doc(cfg(feature = "mcp")))]
pub mod mcp;
#[cfg(feature = "middleware")]
#[cfg_attr(docsrs, doc(cfg(feature = "middleware")))]
pub mod middleware;
#[cfg(feature = "openapi")]
#[cfg_attr(docsrs, doc(cfg(feature = "openapi")))]
pub mod openapi;
#[cfg(feature = "toolbox")]
#[cfg_attr(docsrs, doc(cfg(feature = "toolbox")))]
pub mod toolbox;

#[doc(hidden)]
pub use runtime::__private0;
#[doc(inline)]
pub use runtime::{
    Answer, Call, Calls, CancellationToken, Content, Danger, Effect, Handle, Output, Resource,
    ToolContext, ToolError, data, expected_tools, link, tool, tools,
};
#[cfg(feature = "executor")]
#[cfg_attr(docsrs, doc(cfg(feature = "executor")))]
#[doc(inline)]
pub use runtime::{
    Bundle, Executor, ExecutorBuilder, Registry, approval, dialect, journal, policy, provider,
    retry,
};
#[cfg(feature = "agent")]
#[cfg_attr(docsrs, doc(cfg(feature = "agent")))]
#[doc(inline)]
pub use toolwright_agent::{Agent, RunEvent};

/// The other items of the runtime: catalogs and profiles, runs and turns, workers, middleware, footprints, run-time
/// tools, and the items for authors of extensions.
pub mod runtime {
    #[doc(inline)]
    pub use ::runtime::*;
}

/// Tests that the examples in the documentation pages compile and run.
#[cfg(all(doctest, feature = "testing"))]
#[doc = include_str!("../../docs/agents.md")]
mod agents {}

#[cfg(all(doctest, feature = "testing"))]
#[doc = include_str!("../../docs/guards.md")]
mod guards_page {}

#[cfg(all(doctest, feature = "testing"))]
#[doc = include_str!("../../docs/plugins.md")]
mod plugins_page {}

#[cfg(all(doctest, feature = "agent", feature = "cli", feature = "toolbox"))]
#[doc = include_str!("../../docs/toolbox.md")]
mod toolbox_page {}

#[cfg(all(doctest, feature = "agent", feature = "cli", feature = "web"))]
#[doc = include_str!("../../docs/web.md")]
mod web_page {}

/// The context store is found in `toolbox`, as [docs/context.md](../../docs/context.md) says.
///
/// ```no_run
/// use toolwright::toolbox::{CONTEXT_STORE, ContextStore};
/// use toolwright::{Executor, Registry};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = ContextStore::open("context.db")?;
/// let executor = Executor::builder(Registry::of(CONTEXT_STORE)?).unrestricted().service(store).build()?;
/// # Ok(())
/// # }
/// ```
#[cfg(all(doctest, feature = "context"))]
mod context_page {}

#[cfg(all(doctest, feature = "agent", feature = "tasks"))]
#[doc = include_str!("../../docs/tasks.md")]
mod tasks_page {}
