// The whole input is one.
use toolwright::{data, tool};

#[data]
struct Options {
    all: bool,
}

/// Reads a file.
#[tool]
async fn read_file(#[input] options: Options, #[input] more: Options) {
    let _ = (options.all, more.all);
}

fn main() {}
