// The whole input is read from JSON by a schema as well.
use toolwright::tool;

struct Options;

/// Reads a file.
#[tool]
async fn read_file(#[input] options: Options) {
    let _ = options;
}

fn main() {}
