// An option stands once.
use toolwright::tool;

/// Reads a file.
#[tool(group = "file", group = "disk")]
async fn read_file() {}

fn main() {}
