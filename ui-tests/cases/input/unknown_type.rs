// A type that does not exist is rustc's to refuse, once.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    path: FilePath,
) {
    let _ = path;
}

fn main() {}
