// An option that does not exist is named, with the one that was probably meant.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(minimun = 1)]
    offset: usize,
) {
    let _ = offset;
}

fn main() {}
