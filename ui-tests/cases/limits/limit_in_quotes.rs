// A limit is a number.
use toolwright::tool;

/// Waits.
#[tool(limit = "4")]
async fn wait() {}

fn main() {}
