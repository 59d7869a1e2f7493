// A kind of resource is `file` or a type.
use toolwright::tool;

/// Reads a file.
#[tool(reads(files = path))]
async fn read_file(
    /// Which file.
    path: String,
) {
    let _ = path;
}

fn main() {}
