// A parameter is no field: serde does not see it.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    #[serde(default)]
    path: String,
) {
    let _ = path;
}

fn main() {}
