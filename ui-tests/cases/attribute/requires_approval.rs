// Who is asked is told why.
use toolwright::tool;

/// Removes a file.
#[tool(requires_approval)]
async fn remove() {}

fn main() {}
