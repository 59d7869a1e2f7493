// A function of an `impl` block becomes a tool through the block.
use toolwright::tool;

struct Clock;

impl Clock {
    /// Waits.
    #[tool]
    async fn wait() {}
}

fn main() {}
