// A tool is described by its doc comment.
use toolwright::tool;

/// Removes a file.
#[tool(description = "Removes a file.")]
async fn remove() {}

fn main() {}
