// A limit is a number that the type can be.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(minimum = -1)]
    offset: u8,
) {
    let _ = offset;
}

fn main() {}
