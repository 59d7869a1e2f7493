// An effect is a word, not text.
use toolwright::tool;

/// Reads a file.
#[tool(effect = "read")]
async fn read_file() {}

fn main() {}
