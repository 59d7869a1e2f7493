// A pattern is a regular expression.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[arg(pattern = "[a-z")]
    path: String,
) {
    let _ = path;
}

fn main() {}
