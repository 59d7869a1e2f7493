// Input has a type, from which its schema is made.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    path: impl Into<String>,
) {
    let _ = path.into();
}

fn main() {}
