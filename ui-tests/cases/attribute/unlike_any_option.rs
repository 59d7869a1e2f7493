// An option that resembles none gets the list of all.
use toolwright::tool;

/// Reads a file.
#[tool(cached)]
async fn read_file() {}

fn main() {}
