// A default has the parameter's type.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(default = true)]
    offset: usize,
) {
    let _ = offset;
}

fn main() {}
