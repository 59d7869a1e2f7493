// A key stands for one parameter; the alias gives way, wherever it stands.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[arg(alias = "other")]
    path: String,
    /// Which other file.
    other: String,
) {
    let _ = (path, other);
}

fn main() {}
