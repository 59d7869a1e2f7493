// Input has a size.
use toolwright::tool;

/// Reads a file.
#[tool(effect = read)]
async fn read_file(
    /// Which.
    path: str,
) -> usize {
    path.len()
}

fn main() {}
