// A preview is named by its path.
use toolwright::tool;

/// Removes a file.
#[tool(preview = "show")]
async fn remove() {}

fn main() {}
