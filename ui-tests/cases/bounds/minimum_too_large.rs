// A minimum fits into 128 bits.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(minimum = 999999999999999999999999999999999999999999)]
    offset: usize,
) {
    let _ = offset;
}

fn main() {}
