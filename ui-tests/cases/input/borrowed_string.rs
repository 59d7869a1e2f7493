// Input is owned: text is `String`.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    path: &String,
) {
    let _ = path;
}

fn main() {}
