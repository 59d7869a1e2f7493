// An option stands once, also in two attributes.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(minimum = 1)]
    #[arg(minimum = 2)]
    offset: usize,
) {
    let _ = offset;
}

fn main() {}
