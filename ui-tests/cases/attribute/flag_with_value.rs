// A flag is there or it is not.
use toolwright::tool;

/// Reads a file.
#[tool(terminal = true)]
async fn read_file() {}

fn main() {}
