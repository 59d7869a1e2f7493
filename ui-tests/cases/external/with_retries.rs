// Who carries it out tries again, or supplies an error.
use toolwright::tool;

/// Lets the visitor pick a colour.
#[tool(external, retry(attempts = 2))]
async fn pick() -> String;

fn main() {}
