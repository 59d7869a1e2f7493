// The levels of danger are four words.
use toolwright::tool;

/// Reads a file.
#[tool(danger = save)]
async fn read_file() {}

fn main() {}
