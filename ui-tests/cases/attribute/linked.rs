// The linker registers a tool unless the tool says otherwise.
use toolwright::tool;

/// Reads a file.
#[tool(linked = false)]
async fn read_file() {}

fn main() {}
