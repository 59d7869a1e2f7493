// A resource is named by text, a path or a number.
use toolwright::tool;

/// Reads a file.
#[tool(reads(file = path))]
async fn read_file(
    /// Whether it is the first.
    path: bool,
) {
    let _ = path;
}

fn main() {}
