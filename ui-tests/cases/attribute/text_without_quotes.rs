// Text stands in quotes.
use toolwright::tool;

/// Reads a file.
#[tool(title = Reader)]
async fn read_file() {}

fn main() {}
