// Data is a struct or an enum.
use toolwright::data;

#[data]
union Options {
    all: bool,
}

fn main() {}
