// The options are words; the name has one of its own.
use toolwright::tool;

/// Reads a file.
#[tool("read")]
async fn read_file() {}

fn main() {}
