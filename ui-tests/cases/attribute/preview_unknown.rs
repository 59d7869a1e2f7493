// A preview is a function that exists.
use toolwright::tool;

/// Removes a file.
#[tool(preview = show)]
async fn remove() {}

fn main() {}
