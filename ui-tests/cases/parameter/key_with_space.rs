// A key is made of what every provider accepts.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[arg(name = "the path")]
    path: String,
) {
    let _ = path;
}

fn main() {}
