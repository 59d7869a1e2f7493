// Retry has options of its own.
use toolwright::tool;

/// Waits.
#[tool(retry = 3)]
async fn wait() {}

fn main() {}
