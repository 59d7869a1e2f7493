// An attribute that nobody knows is rustc's to refuse.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[args(length = 1..)]
    path: String,
) {
    let _ = path;
}

fn main() {}
