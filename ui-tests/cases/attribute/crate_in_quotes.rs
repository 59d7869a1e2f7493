// The runtime's path is a path.
use toolwright::tool;

/// Reads a file.
#[tool(crate = "toolwright")]
async fn read_file() {}

fn main() {}
