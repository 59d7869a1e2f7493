// Input is owned; what a tool changes of it is its own.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    path: &mut String,
) {
    path.clear();
}

fn main() {}
