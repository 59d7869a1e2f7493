// What a tool reads is a list of kinds.
use toolwright::tool;

/// Reads a file.
#[tool(reads = path)]
async fn read_file(
    /// Which file.
    path: String,
) {
    let _ = path;
}

fn main() {}
