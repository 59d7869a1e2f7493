// What is repeated stands before the sign.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[arg(pattern = "*.txt")]
    path: String,
) {
    let _ = path;
}

fn main() {}
