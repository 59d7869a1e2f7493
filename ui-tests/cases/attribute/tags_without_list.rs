// Tags are a list.
use toolwright::tool;

/// Reads a file.
#[tool(tags = "disk")]
async fn read_file() {}

fn main() {}
