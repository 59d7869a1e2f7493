// Options stand in parentheses.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[arg = "path"]
    path: String,
) {
    let _ = path;
}

fn main() {}
