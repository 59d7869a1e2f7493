// A default fits its type.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(default = -1)]
    offset: usize,
) {
    let _ = offset;
}

fn main() {}
