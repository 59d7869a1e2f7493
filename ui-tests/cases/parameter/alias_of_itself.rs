// An alias is another key.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[arg(alias = "path")]
    path: String,
) {
    let _ = path;
}

fn main() {}
