// A condition stands on the whole tool.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[cfg(unix)]
    path: String,
) {
    let _ = path;
}

fn main() {}
