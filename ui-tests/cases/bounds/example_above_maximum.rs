// An example is a legal value.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(example = 10, maximum = 9)]
    offset: usize,
) {
    let _ = offset;
}

fn main() {}
