// A default is a legal value.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(default = 0, minimum = 1)]
    offset: usize,
) {
    let _ = offset;
}

fn main() {}
