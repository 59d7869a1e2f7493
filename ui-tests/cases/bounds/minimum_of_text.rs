// A minimum is for numbers.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[arg(minimum = 1)]
    path: String,
) {
    let _ = path;
}

fn main() {}
