// A call that is handed over does not wait for ever.
use toolwright::tool;

/// Lets the visitor pick a colour.
#[tool(external, timeout = none)]
async fn pick() -> String;

fn main() {}
