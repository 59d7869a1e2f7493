// Repair has three degrees.
use toolwright::tool;

/// Reads a file.
#[tool(repair = none)]
async fn read_file() {}

fn main() {}
