//! features = ["agent", "cli", "sqlite"]. A person decides, and the decision is still valid after a crash. Without a
//! person at the terminal the call waits: decide by `toolwright approvals`, and start the program again.
use toolwright::approval::Terminal;
use toolwright::journal::SqliteStore;
use toolwright::{Agent, tool};

/// Order articles from the supplier.
#[tool(effect = once, approval = "it spends money")]
async fn order(
    /// The article, such as `tea`.
    article: String,
    /// How many.
    count: u32,
) -> String {
    format!("ordered {count} of {article}")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = Agent::builder("anthropic:claude-sonnet-4-6")
        .tools([ORDER])
        .journal(SqliteStore::open("shop.db").await?)
        .approver(Terminal::new())
        .build()?;
    println!("{}", agent.run("Order three of tea.").id("order-17").user("ada").await?);
    Ok(())
}
