// A type that carries the whole input carries its options, too.
use toolwright::{data, tool};

#[data]
struct Options {
    all: bool,
}

/// Reads a file.
#[tool]
async fn read_file(#[input(strict)] options: Options) {
    let _ = options.all;
}

fn main() {}
