// A tool whose effect is `read` writes nothing.
use toolwright::tool;

/// Reads a file.
#[tool(effect = read, writes(file))]
async fn read_file() {}

fn main() {}
