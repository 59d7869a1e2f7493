//! A call that a person approves at the terminal.
use toolwright::approval::Terminal;
use toolwright::{Call, Executor, Registry, tool};

/// Order articles from the supplier.
#[tool(approval = "it spends money", writes())]
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
    let executor = Executor::builder(Registry::of([ORDER])?).ask(Terminal::new()).build()?;
    let answer = executor.call(&Call::new("order", r#"{"article":"tea","count":3}"#)).await;
    println!("{}", answer.text());
    Ok(())
}
