//! Tools with which a model reads the resources of other servers, for applications that add these tools.

use std::fmt::Write as _;

use toolwright::{Handle, Output, ToolError, tool};

use super::McpServers;
use super::untrusted::fenced;

/// The tools with which a model lists and reads the resources of MCP servers: `.tools(MCP_RESOURCE_TOOLS)`. They need
/// the service that the bundle [`McpServers`] provides. The bundle does not add these tools itself.
pub const MCP_RESOURCE_TOOLS: [Handle; 2] = [MCP_LIST_RESOURCES, MCP_READ_RESOURCE];

/// How many resources one answer lists.
const MOST: usize = 200;

/// List the resources of a connected MCP server: documents and data that can be read by their address.
///
/// # What it does
/// Starts the server where it does not run yet, and asks it for its resources. An address with `{name}` is a template: replace
/// that by a value.
///
/// # What it may touch
/// It starts the program that the application's configuration names.
///
/// # What it refuses
/// A server that the configuration does not name.
#[tool(unlinked, effect = read, reads(), timeout = none)]
pub async fn mcp_list_resources(
    servers: &McpServers,
    /// The server.
    #[arg(example = "files")]
    server: String,
) -> Result<String, ToolError> {
    let offered = servers.resources(&server).await?;
    let all: Vec<_> = offered.resources.iter().chain(&offered.templates).collect();
    let mut text = String::new();
    for resource in all.iter().take(MOST) {
        let described = resource.description.as_deref().unwrap_or(&resource.name);
        let line: String =
            described.trim().lines().next().unwrap_or_default().chars().take(200).collect();
        let _ = writeln!(text, "{}: {line}", resource.uri);
    }
    if all.len() > MOST {
        let _ = writeln!(text, "and {} more", all.len() - MOST);
    }
    Ok(match text.trim_end() {
        "" => format!("the MCP server `{server}` has no resources"),
        text => fenced(&format!("MCP server `{server}`"), text),
    })
}

/// Read one resource of a connected MCP server. A person is asked first.
///
/// # What it does
/// Sends the address to the server, and shows what is there as unchecked text.
///
/// # What it may touch
/// Whatever the server reads at that address.
///
/// # What it refuses
/// A server that the configuration does not name; an address at which the server has nothing.
#[tool(
    unlinked,
    effect = read,
    reads(),
    timeout = none,
    approval = "it sends an address to another program, which reads what is there"
)]
pub async fn mcp_read_resource(
    servers: &McpServers,
    /// The server.
    #[arg(example = "files")]
    server: String,
    /// The address, as the list of resources has it.
    #[arg(length = 1..=2000, example = "file:///notes.md")]
    uri: String,
) -> Result<Output, ToolError> {
    servers.read_resource(&server, &uri).await
}
