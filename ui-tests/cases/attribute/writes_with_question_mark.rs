// What a call writes is a name or a list of names, so nothing may fail.
use toolwright::tool;

/// Removes a file.
#[tool(writes(file = path.parse::<std::path::PathBuf>()?))]
async fn remove(
    /// Which file.
    path: String,
) {
    let _ = path;
}

fn main() {}
