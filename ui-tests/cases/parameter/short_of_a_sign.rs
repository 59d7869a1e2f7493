// A flag is a letter or a digit.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[arg(short = '-')]
    path: String,
) {
    let _ = path;
}

fn main() {}
