// A delay has a unit.
use toolwright::tool;

/// Waits.
#[tool(retry(attempts = 3, delay = 500))]
async fn wait() {}

fn main() {}
