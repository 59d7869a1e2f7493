// The derives are there already.
use toolwright::data;

#[data]
#[derive(serde::Serialize)]
struct Options {
    all: bool,
}

fn main() {}
