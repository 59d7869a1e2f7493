// Options are separated by commas, not by semicolons.
use toolwright::tool;

/// Reads a file.
#[tool(group = "file"; terminal)]
async fn read_file() {}

fn main() {}
