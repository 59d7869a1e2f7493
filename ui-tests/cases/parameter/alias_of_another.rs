// A key stands for one parameter, as an alias, too.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    path: String,
    /// Which other file.
    #[arg(alias = "path")]
    other: String,
) {
    let _ = (path, other);
}

fn main() {}
