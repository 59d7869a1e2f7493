// A default stands for itself: no parameter is read when it is shown.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    first: usize,
    /// Last line.
    #[arg(default = first + 10)]
    last: usize,
) {
    let _ = (first, last);
}

fn main() {}
