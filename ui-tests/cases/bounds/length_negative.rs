// A length counts.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[arg(length = -1..=9)]
    path: String,
) {
    let _ = path;
}

fn main() {}
