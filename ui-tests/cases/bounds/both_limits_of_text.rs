// Two limits of the wrong kind are two mistakes, each at its key.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[arg(minimum = 1, maximum = 9)]
    path: String,
) {
    let _ = path;
}

fn main() {}
