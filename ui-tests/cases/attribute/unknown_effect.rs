// The effects are four words.
use toolwright::tool;

/// Reads a file.
#[tool(effect = reads)]
async fn read_file() {}

fn main() {}
