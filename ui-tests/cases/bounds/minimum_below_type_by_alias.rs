// A type by another name is that type.
use toolwright::tool;

type Line = u8;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(minimum = -1)]
    offset: Line,
) {
    let _ = offset;
}

fn main() {}
