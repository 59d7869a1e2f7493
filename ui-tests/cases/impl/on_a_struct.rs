// Tools are methods of an `impl` block.
use toolwright::tools;

#[tools]
struct Clock;

fn main() {}
