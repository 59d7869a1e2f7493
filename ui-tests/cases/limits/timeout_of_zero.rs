// A timeout leaves the tool some time.
use toolwright::tool;

/// Waits.
#[tool(timeout = "0s")]
async fn wait() {}

fn main() {}
