// A default is any expression.
use toolwright::tool;

/// Removes a file.
#[tool]
async fn remove(
    /// Which file.
    #[arg(default_value = "a.txt")]
    path: String,
) {
    let _ = path;
}

fn main() {}
