// JSON has no number that is none.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(default = f64::NAN)]
    offset: f64,
) {
    let _ = offset;
}

fn main() {}
