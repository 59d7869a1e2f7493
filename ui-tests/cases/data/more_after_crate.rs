// The only option is the runtime's path.
use toolwright::data;

#[data(crate = toolwright, strict)]
struct Options {
    all: bool,
}

fn main() {}
