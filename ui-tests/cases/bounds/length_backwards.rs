// Lengths leave something between them.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[arg(length = 9..=1)]
    path: String,
) {
    let _ = path;
}

fn main() {}
