// The runtime's path leads to the runtime.
use toolwright::tool;

/// Reads a file.
#[tool(crate = ::toolsmith)]
async fn read_file() {}

fn main() {}
