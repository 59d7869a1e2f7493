// The runtime's path is a path.
use toolwright::data;

#[data(crate)]
struct Options {
    all: bool,
}

fn main() {}
