// Input is owned.
use toolwright::{data, tool};

#[data]
struct Options {
    all: bool,
}

/// Reads a file.
#[tool]
async fn read_file(#[input] options: &Options) {
    let _ = options;
}

fn main() {}
