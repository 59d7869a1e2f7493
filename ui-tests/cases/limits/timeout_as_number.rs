// A duration is text, so that its unit stands beside it.
use toolwright::tool;

/// Waits.
#[tool(timeout = 30)]
async fn wait() {}

fn main() {}
