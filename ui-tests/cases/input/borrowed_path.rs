// Input is owned: a path is `PathBuf`.
use std::path::Path;
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    path: &Path,
) {
    let _ = path;
}

fn main() {}
