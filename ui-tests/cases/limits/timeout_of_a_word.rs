// The only word for a timeout is `none`.
use toolwright::tool;

/// Waits.
#[tool(timeout = never)]
async fn wait() {}

fn main() {}
