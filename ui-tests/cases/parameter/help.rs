// A parameter is described by its doc comment.
use toolwright::tool;

/// Removes a file.
#[tool]
async fn remove(
    /// Which file.
    #[arg(help = "Which file.")]
    path: String,
) {
    let _ = path;
}

fn main() {}
