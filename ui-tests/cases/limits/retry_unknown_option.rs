// The options of retry are three.
use toolwright::tool;

/// Waits.
#[tool(retry(attemps = 3))]
async fn wait() {}

fn main() {}
