// Input that serde can read still needs a schema.
use toolwright::tool;

#[derive(serde::Deserialize)]
struct Options {}

/// Reads a file.
#[tool]
async fn read_file(
    /// How.
    options: Options,
) {
    let _ = options;
}

fn main() {}
