// The mistakes of one tool do not hide those of the next.
use toolwright::tool;

/// Reads a file.
#[tool(effect = reed)]
async fn read_file() {}

#[tool]
async fn write_file() {}

fn main() {}
