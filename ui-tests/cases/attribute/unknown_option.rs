// An option that does not exist is named, with the one that was probably meant.
use toolwright::tool;

/// Reads a file.
#[tool(efect = read)]
async fn read_file() {}

fn main() {}
