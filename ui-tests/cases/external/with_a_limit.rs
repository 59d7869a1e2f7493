// What says how attempts run here says nothing of a call that runs elsewhere.
use toolwright::tool;

/// Lets the visitor pick a colour.
#[tool(external, limit = 2)]
async fn pick() -> String;

fn main() {}
