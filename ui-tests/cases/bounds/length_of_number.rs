// A length is for text, lists, sets and maps.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(length = 1..=5)]
    offset: usize,
) {
    let _ = offset;
}

fn main() {}
