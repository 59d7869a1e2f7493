// JSON has no number beyond all others.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(minimum = f64::NEG_INFINITY)]
    offset: f64,
) {
    let _ = offset;
}

fn main() {}
