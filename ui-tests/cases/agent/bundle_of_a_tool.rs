//! A bundle is a value of a type of its own; a tool alone is none.

use toolwright::tool;
use toolwright_agent::Agent;

/// Find a book.
#[tool(effect = read)]
async fn find() {}

fn main() {
    let _ = Agent::builder("anthropic:some-model").with(FIND).build();
}
