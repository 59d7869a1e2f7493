// The flag on a command line is the key.
use toolwright::tool;

/// Removes a file.
#[tool]
async fn remove(
    /// Which file.
    #[arg(long = "file")]
    path: String,
) {
    let _ = path;
}

fn main() {}
