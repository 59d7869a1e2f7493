//! The Model Context Protocol for [Toolwright](toolwright): [`McpServer`] serves an application's tools to any client.
//! [`McpClient`] lets an application use the tools of another server, and [`McpServers`] the tools of all servers in a
//! configuration.
//!
//! Clients and servers call the executor of the application, so policy, approval and journal apply to every call.
#![warn(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "cli")]
#[cfg_attr(docsrs, doc(cfg(feature = "cli")))]
pub mod cli;
mod client;
mod sent_request;
mod server;
mod trace;

pub use client::answers::{Answers, Elicit, Elicitation, Sample};
pub use client::config::{ConfigError, McpConfig, Trust};
#[cfg(feature = "oauth")]
#[cfg_attr(docsrs, doc(cfg(feature = "oauth")))]
pub use client::oauth::{
    EncryptedTokens, Loopback, MemoryTokens, OAuth, SignIn, SignInRequest, TokenStore,
};
pub use client::offered::{OfferedArgument, OfferedPrompt, OfferedResources};
pub use client::resource_tools::{
    MCP_LIST_RESOURCES, MCP_READ_RESOURCE, MCP_RESOURCE_TOOLS, mcp_list_resources,
    mcp_read_resource,
};
pub use client::single::McpClient;
pub use client::tools::{
    MCP_EXEC, MCP_INFO, MCP_LIST_TOOLS, MCP_SEARCH, MCP_TOOLS, mcp_exec, mcp_info, mcp_list_tools,
    mcp_search,
};
pub use client::{FailedServer, McpServers, RefusedTool, RegisterError, Unusable};
pub use server::client::{ConnectedClient, ElicitationOutcome, LogLevel, Root};
pub use server::content::{
    Arguments, Completing, Completions, Prompt, PromptMessage, Prompts, Resource, ResourceContent,
    Resources,
};
pub use server::elicitation::ElicitationApprover;
#[cfg(feature = "http-server")]
#[cfg_attr(docsrs, doc(cfg(feature = "http-server")))]
pub use server::http::{BoundServer, HttpServer, McpService, TokenCheck, TokenRefusal};
pub use server::{McpServer, ServeError, serve};
pub use trace::TraceContext;
