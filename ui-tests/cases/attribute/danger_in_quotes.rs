// A level of danger is a word, not text.
use toolwright::tool;

/// Reads a file.
#[tool(danger = "safe")]
async fn read_file() {}

fn main() {}
