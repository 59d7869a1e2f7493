// A limit is a number.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(minimum = f64::NAN)]
    offset: f64,
) {
    let _ = offset;
}

fn main() {}
