// A tool is unlinked or it is not.
use toolwright::tool;

/// Reads a file.
#[tool(unlinked = false)]
async fn read_file() {}

fn main() {}
