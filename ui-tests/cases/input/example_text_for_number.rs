// An example in quotes is for types that are made from text.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(example = "1")]
    offset: usize,
) {
    let _ = offset;
}

fn main() {}
