// An example has the parameter's type.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(example = 1.5)]
    offset: usize,
) {
    let _ = offset;
}

fn main() {}
