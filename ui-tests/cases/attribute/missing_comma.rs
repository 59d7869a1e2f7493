// Options are separated by commas.
use toolwright::tool;

/// Reads a file.
#[tool(group = "file" terminal)]
async fn read_file() {}

fn main() {}
