//! Two clients of a server in another process: the foreign tool of an executor, and rmcp's own client.

use std::process::Stdio;

use ::rmcp::service::{RoleClient, RunningService};
use anyhow::{Context, Result, ensure};
use tokio::process::{Child, Command};
use toolwright::{Call, Executor, Registry};
use toolwright_mcp::{McpConfig, McpServers};

use super::peer::PEER;
use super::servers;

pub struct Ours {
    servers: McpServers,
    executor: Executor,
}

impl Ours {
    pub async fn new() -> Result<Self> {
        let program = std::env::current_exe()?;
        let program = serde_json::to_string(&program)?;
        let config = format!(
            "[servers.peer]\ncommand = {program}\nargs = [\"{PEER}\"]\ntrust = \"annotations\""
        );
        let servers = McpServers::new(McpConfig::from_toml(&config)?);
        let builder = Executor::builder(Registry::empty()).unrestricted().with(servers.clone());
        Ok(Self { servers, executor: builder.build()? })
    }

    pub async fn call(&self, text: &str) -> Result<String> {
        let answer = self.executor.call(&Call::new("peer__find_text", text)).await;
        ensure!(answer.error().is_none(), "{}", answer.text());
        Ok(answer.into_text())
    }

    pub async fn close(&self) {
        self.servers.close().await;
    }
}

pub struct Theirs {
    client: RunningService<RoleClient, ()>,
    _child: Child,
}

impl Theirs {
    pub async fn new() -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(PEER).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let (read, write) = (child.stdout.take(), child.stdin.take());
        let streams = (read.context("no output")?, write.context("no input")?);
        Ok(Self { client: ::rmcp::serve_client((), streams).await?, _child: child })
    }

    pub async fn call(&self, text: &str) -> Result<String> {
        servers::call(&self.client, text).await
    }
}
