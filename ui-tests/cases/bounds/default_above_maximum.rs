// A default is a legal value.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// How much of it.
    #[arg(default = 1.5, maximum = 1)]
    part: f64,
) {
    let _ = part;
}

fn main() {}
