// A call that may take no time never runs.
use toolwright::tool;

/// Returns at once.
#[tool(total_timeout = "0s")]
async fn at_once() {}

fn main() {}
