//! Calls a tool of a server: `call mcp.toml TOOL ARGUMENTS`. Nobody is asked, so the configuration has to trust the server.

use std::error::Error;
use std::process::ExitCode;

use toolwright::{Call, Executor, Registry};
use toolwright_mcp::{McpConfig, McpServers};

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [config, tool, arguments] = words.as_slice() else {
        return Err("expected a configuration, a tool and its arguments".into());
    };
    let servers = McpServers::new(McpConfig::read(config)?);
    let builder = Executor::builder(Registry::empty()).unrestricted();
    let executor = builder.with(servers.clone()).build()?;
    let answer = executor.call(&Call::new(tool, arguments)).await;
    servers.close().await;
    println!("{}", answer.text());
    Ok(if answer.is_error() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
