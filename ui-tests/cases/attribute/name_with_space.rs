// A tool's name is made of what every provider accepts.
use toolwright::tool;

/// Reads a file.
#[tool(name = "read file")]
async fn read_file() {}

fn main() {}
