// An `impl` block takes the other attribute.
use toolwright::tool;

struct Clock;

#[tool]
impl Clock {}

fn main() {}
