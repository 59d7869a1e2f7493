// The whole input leaves nothing for others.
use toolwright::{data, tool};

#[data]
struct Options {
    all: bool,
}

/// Reads a file.
#[tool]
async fn read_file(
    #[input] options: Options,
    /// Which file.
    path: String,
) {
    let _ = (options.all, path);
}

fn main() {}
