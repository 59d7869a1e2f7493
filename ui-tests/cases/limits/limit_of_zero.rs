// A tool that may never run is no tool.
use toolwright::tool;

/// Waits.
#[tool(limit = 0)]
async fn wait() {}

fn main() {}
