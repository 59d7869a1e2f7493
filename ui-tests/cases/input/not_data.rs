// Input is read from JSON by a schema.
use toolwright::tool;

struct Options;

/// Reads a file.
#[tool]
async fn read_file(
    /// How.
    options: Options,
) {
    let _ = options;
}

fn main() {}
