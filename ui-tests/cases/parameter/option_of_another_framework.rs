// An option of another library is named, with what stands for it here.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// First line.
    #[arg(min = 1)]
    offset: usize,
) {
    let _ = offset;
}

fn main() {}
