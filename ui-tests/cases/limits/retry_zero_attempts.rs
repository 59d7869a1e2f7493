// The first attempt counts.
use toolwright::tool;

/// Waits.
#[tool(retry(attempts = 0))]
async fn wait() {}

fn main() {}
