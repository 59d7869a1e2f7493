// An attribute that says nothing is left out.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[arg]
    path: String,
) {
    let _ = path;
}

fn main() {}
