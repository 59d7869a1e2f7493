// What other libraries call a hint is an effect.
use toolwright::tool;

/// Looks at a file.
#[tool(read_only)]
async fn look() {}

fn main() {}
