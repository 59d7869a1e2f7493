// The attribute on an `impl` block is of use to its tools.
use toolwright::tools;

struct Clock;

#[tools]
impl Clock {
    /// Waits.
    async fn wait(&self) {}
}

fn main() {}
