// A pattern is for text.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(pattern = "^[0-9]+$")]
    offset: usize,
) {
    let _ = offset;
}

fn main() {}
