// A duration has a unit.
use toolwright::tool;

/// Waits.
#[tool(timeout = "30")]
async fn wait() {}

fn main() {}
