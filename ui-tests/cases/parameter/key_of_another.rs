// A key stands for one parameter.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    path: String,
    /// Which other file.
    #[arg(name = "path")]
    other: String,
) {
    let _ = (path, other);
}

fn main() {}
