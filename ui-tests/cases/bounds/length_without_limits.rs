// A range without limits says nothing.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[arg(length = ..)]
    path: String,
) {
    let _ = path;
}

fn main() {}
