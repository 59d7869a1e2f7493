//! Calls tools of servers: `call mcp.toml TOOL ARGUMENTS`, or `call mcp.toml` for a call in each line of standard input, answered by
//! a line of JSON. Nobody is asked, so the configuration has to trust the servers.

use std::error::Error;
use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;

use serde_json::json;
use toolwright::{Call, Executor, Registry};
use toolwright_mcp::{McpConfig, McpServers};

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (config, call) = match words.as_slice() {
        [config] => (config, None),
        [config, tool, arguments] => (config, Some((tool, arguments))),
        _ => return Err("expected a configuration, and a tool and its arguments or neither".into()),
    };
    let servers = McpServers::new(McpConfig::read(config)?);
    let builder = Executor::builder(Registry::empty()).unrestricted();
    let executor = builder.with(servers.clone()).build()?;
    let Some((tool, arguments)) = call else {
        lines(&servers, &executor).await?;
        servers.close().await;
        return Ok(ExitCode::SUCCESS);
    };
    let answer = executor.call(&Call::new(tool, arguments)).await;
    servers.close().await;
    println!("{}", answer.text());
    Ok(if answer.is_error() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What can be used of all servers at once, then the answer to each line.
async fn lines(servers: &McpServers, executor: &Executor) -> Result<(), Box<dyn Error>> {
    let unusable = servers.register_all().await?;
    let out = unusable.servers.iter().map(|it| format!("{}: {}", it.server, it.error));
    let tools = executor.catalog().definitions().filter(|it| it.name.contains("__")).count();
    print(&json!({"tools": tools, "unusable": out.collect::<Vec<_>>()}))?;
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    while let Some(line) = receiver.recv().await {
        let (tool, arguments) = line.split_once(' ').unwrap_or((&line, "{}"));
        let answer = executor.call(&Call::new(tool, arguments)).await;
        let error = answer.error().map(|error| error.kind().to_owned());
        print(&json!({"tool": tool, "error": error, "text": answer.text()}))?;
    }
    Ok(())
}

fn print(line: &serde_json::Value) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}
