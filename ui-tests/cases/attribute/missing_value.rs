// A key that takes a value does not stand alone.
use toolwright::tool;

/// Reads a file.
#[tool(group, terminal)]
async fn read_file() {}

fn main() {}
