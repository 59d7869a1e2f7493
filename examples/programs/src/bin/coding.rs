//! features = ["agent", "cli", "mcp", "toolbox"]
use toolwright::Agent;
use toolwright::approval::Terminal;
use toolwright::mcp::McpClient;
use toolwright::toolbox::CodingTools;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = Agent::builder("anthropic:claude-sonnet-4-6")
        .instructions("You repair Rust crates.")
        .with(CodingTools::open(".")?)
        .with(McpClient::stdio("docs", "npx", ["-y", "@modelcontextprotocol/server-everything"]))
        .approver(Terminal::new())
        .build()?;
    println!("{}", agent.run("Make the tests pass.").await?);
    Ok(())
}
