// One letter is one flag.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[arg(short)]
    path: String,
    /// Which pages.
    #[arg(short)]
    pages: u32,
) {
    let _ = (path, pages);
}

fn main() {}
