// An answer has a size.
use toolwright::tool;

/// Reads a file.
#[tool(effect = read)]
async fn read_file() -> str {
    *"text"
}

fn main() {}
