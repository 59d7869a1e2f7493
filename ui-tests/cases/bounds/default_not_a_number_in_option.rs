// JSON has no number that is none, in an option neither.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(default = Some(f64::NAN))]
    offset: Option<f64>,
) {
    let _ = offset;
}

fn main() {}
