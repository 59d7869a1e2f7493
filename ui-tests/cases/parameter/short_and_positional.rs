// A parameter has a flag or a place.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[arg(short, positional)]
    path: String,
) {
    let _ = path;
}

fn main() {}
