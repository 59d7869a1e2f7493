// Whether a parameter may be left out is said by its type.
use toolwright::tool;

/// Removes a file.
#[tool]
async fn remove(
    /// Which file.
    #[arg(required)]
    path: String,
) {
    let _ = path;
}

fn main() {}
