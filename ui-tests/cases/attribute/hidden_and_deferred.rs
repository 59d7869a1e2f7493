// A tool is found by a search or it is not.
use toolwright::tool;

/// Reads a file.
#[tool(hidden, deferred)]
async fn read_file() {}

fn main() {}
