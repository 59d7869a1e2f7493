// Nothing after the sign is no value.
use toolwright::tool;

/// Reads a file.
#[tool(approval = , terminal)]
async fn read_file() {}

fn main() {}
