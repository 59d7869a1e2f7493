// What runs on the blocking pool is a plain function.
use toolwright::tool;

/// Waits.
#[tool(blocking)]
async fn wait() {}

fn main() {}
