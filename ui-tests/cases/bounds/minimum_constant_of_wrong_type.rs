// A minimum is a number, as a constant, too.
use toolwright::tool;

const FIRST: &str = "1";

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(minimum = FIRST)]
    offset: usize,
) {
    let _ = offset;
}

fn main() {}
