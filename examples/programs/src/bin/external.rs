//! features = ["agent", "sqlite"]. A visitor picks the colour: in a browser, or here at the terminal. If the program is
//! killed while it waits and started again, it waits for the same call. The key is made by
//! `toolwright keys new --name tokens --out tokens.key`.
use std::io::stdin;
use std::time::Duration;

use toolwright::approval::ApproverKey;
use toolwright::journal::{Journal, SqliteStore};
use toolwright::runtime::OnNoApprover;
use toolwright::{Agent, Executor, Registry, tool};

/// A colour that the shop has.
#[toolwright::data]
enum Colour {
    Red,
    Green,
    Blue,
}

/// Lets the visitor pick a colour.
#[tool(external, effect = read, timeout = "10m")]
async fn pick_colour(
    /// What the colour is for.
    prompt: String,
) -> Colour;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let journal = Journal::new(SqliteStore::open("shop.db").await?)
        .hand_over_key(ApproverKey::load("tokens.key")?)
        .on_no_approver(OnNoApprover::Deny);
    let executor = Executor::builder(Registry::of([PICK_COLOUR])?).journal(journal).build()?;
    let agent = Agent::on(executor.clone(), "anthropic:claude-sonnet-4-6").build()?;
    let run = agent.run("Which colour shall the door have?").id("visit-7").start()?;
    let visitor = tokio::spawn(ask_the_visitor(executor));
    println!("{}", run.await?);
    visitor.abort();
    Ok(())
}

/// Prints each call that was handed over, and supplies the visitor's input as its result.
async fn ask_the_visitor(executor: Executor) {
    loop {
        for call in executor.handed_over().await.unwrap_or_default() {
            eprintln!("{}: {}", call.tool, call.arguments);
            let said = tokio::task::spawn_blocking(|| stdin().lines().next()).await;
            let Ok(Some(Ok(colour))) = said else { return };
            let result = format!("{:?}", colour.trim());
            let token = call.token.to_string();
            if let Err(error) = executor.supply(call.call, &token, Ok(&result)).await {
                eprintln!("{error}");
            }
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
