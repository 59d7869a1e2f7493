// A tag is text.
use toolwright::tool;

/// Reads a file.
#[tool(tags("disk", local))]
async fn read_file() {}

fn main() {}
