// A handle is the name of a constant.
use toolwright::tool;

/// Reads a file.
#[tool(handle = "READER")]
async fn read_file() {}

fn main() {}
