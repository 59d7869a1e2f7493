// A minimum is known when the program is compiled.
use toolwright::tool;

fn first() -> usize {
    1
}

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(minimum = first())]
    offset: usize,
) {
    let _ = offset;
}

fn main() {}
