// A duration fits into 64 bits of milliseconds.
use toolwright::tool;

/// Waits.
#[tool(timeout = "99999999999999999999h")]
async fn wait() {}

fn main() {}
