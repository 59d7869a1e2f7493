// The items of a list are input as well.
use toolwright::tool;

struct Options;

/// Reads a file.
#[tool]
async fn read_file(
    /// How.
    options: Vec<Option<Options>>,
) {
    let _ = options;
}

fn main() {}
