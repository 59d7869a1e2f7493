// Input is owned: a list is `Vec`.
use toolwright::tool;

/// Reads files.
#[tool]
async fn read_files(
    /// Which files.
    paths: &[String],
) {
    let _ = paths;
}

fn main() {}
