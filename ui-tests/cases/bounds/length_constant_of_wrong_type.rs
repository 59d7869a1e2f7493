// A length counts in `usize`, as a constant, too.
use toolwright::tool;

const LONGEST: f64 = 9.0;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[arg(length = 1..=LONGEST)]
    path: String,
) {
    let _ = path;
}

fn main() {}
