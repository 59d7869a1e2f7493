// The only option is the runtime's path.
use toolwright::data;

#[data(strict)]
struct Options {
    all: bool,
}

fn main() {}
