// One mistake in a list does not hide the next.
use toolwright::tool;

/// Waits.
#[tool(retry(attempts = 0, dealy = "1s"))]
async fn wait() {}

fn main() {}
