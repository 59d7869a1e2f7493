// Input is owned all the way down.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    path: Option<&str>,
) {
    let _ = path;
}

fn main() {}
