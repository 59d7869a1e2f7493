// A minimum is a number.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(minimum = "1")]
    offset: usize,
) {
    let _ = offset;
}

fn main() {}
