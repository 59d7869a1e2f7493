// Limits leave something between them.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(minimum = 5, maximum = 1)]
    offset: usize,
) {
    let _ = offset;
}

fn main() {}
