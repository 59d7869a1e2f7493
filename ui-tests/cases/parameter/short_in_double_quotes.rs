// A flag is one letter.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[arg(short = "p")]
    path: String,
) {
    let _ = path;
}

fn main() {}
