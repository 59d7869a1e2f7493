// A tool has a name.
use toolwright::tool;

/// Reads a file.
#[tool(name = "")]
async fn read_file() {}

fn main() {}
